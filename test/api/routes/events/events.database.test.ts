/** Reading events in pages and with `wait`: cursors, filters, and who sees what. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OrganizationRef } from "../../../../src/db/pool.ts";
import { type EventApp, happen, startEventApp } from "../../../support/app/event-app.ts";
import { call } from "../../../support/clients/client.ts";
import { createTestDatabase, type TestDatabase } from "../../../support/servers/database.ts";
import { makeKey, makeOrganization, makeSpace, makeUser } from "../../../support/tenants/callers.ts";
import { until } from "../../../support/until.ts";

let database: TestDatabase;
let app: EventApp;
let organization: OrganizationRef;
let user: string;
let key: { id: string; text: string };
let space: string;
let closed: string;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await startEventApp(database);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
beforeEach(async () => {
  const { db } = database;
  organization = await makeOrganization(db);
  user = await makeUser(db, organization);
  const other = await makeUser(db, organization);
  key = await makeKey(db, organization, user);
  space = await makeSpace(db, organization, [[user, "owner"]]);
  closed = await makeSpace(db, organization, [[other, "owner"]]);
});

const get = (query: string, text = key.text) => call(app.url, text, "GET", `/events${query}`);
const idsOf = (answer: { body: any }): string[] =>
  answer.body.items.map((item: { resource: { id: string } }) => item.resource.id);
const folder = (spaceId: string = space) =>
  happen(database, organization, { type: "folder.created" }, spaceId);
const isWaiting = () => until("a request waits", async () => app.events.seats.counts().wait === 1);

test("shows an event once, as its contract says, and goes on after its cursor", async () => {
  const id = await happen(
    database,
    organization,
    { type: "document.failed", data: { code: "corrupt" } },
    space,
  );
  const page = await get("");

  expect(page).toMatchObject({ status: 200 });
  expect(page.body).toEqual({
    items: [
      {
        id: expect.any(String),
        type: "document.failed",
        occurred_at: expect.stringMatching(/Z$/),
        organization_id: organization.id,
        space_id: space,
        resource: { type: "document", id },
        actor: { type: "system", user_id: null, api_key_id: null },
        request_id: null,
        data: { code: "corrupt" },
      },
    ],
    next_cursor: expect.any(String),
    has_more: false,
  });
  expect((await get(`?after=${page.body.next_cursor}`)).body).toEqual({
    items: [],
    next_cursor: page.body.next_cursor,
    has_more: false,
  });
});

test("narrows to types, a space and a resource, in pages without gaps", async () => {
  const second = await makeSpace(database.db, organization, [[user, "owner"]]);
  const ids = [await folder(), await folder(second), await folder()];
  await happen(database, organization, { type: "file.created" }, space);

  expect(idsOf(await get("?types=folder.created"))).toEqual(ids);
  expect(idsOf(await get(`?space_id=${second}`))).toEqual([ids[1]]);
  expect(idsOf(await get(`?resource_id=${ids[2]}`))).toEqual([ids[2]]);
  expect(idsOf(await get("?types=agent.created&types=agent.deleted"))).toEqual([]);
  const page = await get("?limit=2");
  expect([...idsOf(page), page.body.has_more]).toEqual([ids[0], ids[1], true]);
  expect(idsOf(await get(`?types=folder.created&after=${page.body.next_cursor}`))).toEqual([ids[2]]);
});

test("shows only the spaces that the caller reaches now", async () => {
  const [hidden, shown] = [await folder(closed), await folder()];
  const narrow = await makeKey(database.db, organization, user, { spaces: [] });

  expect(idsOf(await get(""))).toEqual([shown]);
  expect(idsOf(await get(`?space_id=${closed}`))).toEqual([]);
  expect(idsOf(await get("", narrow.text))).toEqual([]);
  await database.db.owner.query(
    "insert into space_members (space_id, user_id, organization_id, role) values ($1, $2, $3, 'viewer')",
    [closed, user, organization.id],
  );
  expect(idsOf(await get(""))).toEqual([hidden, shown]);
});

test("looks at a bounded part of a long log, and says that there is more", async () => {
  const hidden = 5_000;
  await database.db.owner.query(
    `insert into events (organization_id, type, space_id, resource_type, resource_id, audience)
     select $1, 'folder.created', $2, 'folder', gen_random_uuid(), 'space'
     from generate_series(1, $3)`,
    [organization.id, closed, hidden],
  );
  const id = await folder();
  const first = await get("");

  expect(first.body).toMatchObject({ items: [], has_more: true });
  expect(idsOf(await get(`?after=${first.body.next_cursor}`))).toEqual([id]);
  expect(idsOf(await get("?wait=30"))).toEqual([id]);
  expect(idsOf(await get(`?resource_id=${id}`))).toEqual([id]);
});

test("holds a request until an event comes that the caller sees", async () => {
  const waiting = get("?after=now&wait=30&types=folder.created");
  await isWaiting();
  await folder(closed);
  await happen(database, organization, { type: "file.created" }, space);
  const seen = await folder();

  expect(idsOf(await waiting)).toEqual([seen]);
  expect(app.events.seats.counts().wait).toBe(0);
});

test("answers with an empty page and a cursor when the wait is over", async () => {
  await folder();
  const answer = await get("?after=now&wait=1");

  expect(answer.body).toEqual({ items: [], next_cursor: expect.any(String), has_more: false });
});

test("refuses a wait whose key is revoked meanwhile, and whose owner leaves", async () => {
  const waiting = get("?after=now&wait=30");
  await isWaiting();
  await database.db.owner.query("update api_keys set revoked_at = now() where id = $1", [key.id]);
  await folder(closed);
  expect(await waiting).toMatchObject({ status: 401, body: { detail: "Invalid API key" } });

  key = await makeKey(database.db, organization, user);
  const removed = get("?after=now&wait=30");
  await isWaiting();
  await database.db.owner.query("update users set removed_at = now() where id = $1", [user]);
  await folder(closed);
  expect(await removed).toMatchObject({
    status: 403,
    body: { detail: expect.stringMatching(/^Permission denied/) },
  });
});

test("refuses a cursor that is none, or another organization's", async () => {
  const rival = await makeOrganization(database.db);
  const stranger = await makeKey(database.db, rival, await makeUser(database.db, rival));
  const foreign = (await get("?after=now", stranger.text)).body.next_cursor;
  const garbage = [
    "garbage",
    "",
    "MTox",
    `${foreign}=`,
    Buffer.from("1:1:9007199254740993").toString("base64url"),
  ];

  for (const after of [foreign, ...garbage])
    expect(await get(`?after=${encodeURIComponent(after)}`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "after"] }] },
    });
  expect((await get("?wait=31&limit=101&types=x")).body.detail).toHaveLength(3);
  expect(
    await call(app.url, key.text, "GET", "/events/stream", undefined, { "last-event-id": foreign }),
  ).toMatchObject({ status: 422, body: { detail: [{ loc: ["header", "last-event-id"] }] } });
});

test("answers a cursor older than what is kept, or from a log that is gone, with the oldest that is", async () => {
  const start = (await get("?after=now")).body.next_cursor;
  await folder();
  const kept = await folder();
  const { next_cursor: end } = (await get("?after=now")).body;
  const set = (column: string, value: number) =>
    database.db.owner.query(`update event_positions set ${column} = $2 where organization_id = $1`, [
      organization.id,
      value,
    ]);
  await set("expired_position", 1);
  const expired = await get(`?after=${start}`);

  expect(expired).toMatchObject({
    status: 410,
    body: { detail: expect.any(String), code: "cursor_expired", oldest: expect.any(String) },
  });
  expect(idsOf(await get(`?after=${expired.body.oldest}`))).toEqual([kept]);
  expect(idsOf(await get(""))).toEqual([kept]);
  expect((await call(app.url, key.text, "GET", `/events/stream?after=${start}`)).status).toBe(410);
  await set("last_position", 1);
  expect((await get(`?after=${end}`)).status).toBe(410);
});
