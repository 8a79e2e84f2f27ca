/** Reading events on the real stack: pages, waits, cursors, and who sees what. */
import { expect, test } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { newId } from "../../../../src/domain/ids.ts";

const people = signedIn();
const { stack, tenants } = people;
const { keys, spaces } = tenants;

const get = (key: string, query: string) => call(stack.url, key, "GET", `/events${query}`);
const end = async (key: string): Promise<string> => (await get(key, "?after=now")).body.next_cursor;
const makeFolder = async (key: string, spaceId: string): Promise<string> =>
  (await call(stack.url, key, "POST", "/folders", { name: newId(), space_id: spaceId })).body.id;

/** Reads on until there are `count` events, with a wait for each. */
async function readOn(key: string, after: string, count: number, query = ""): Promise<any[]> {
  const items: any[] = [];
  for (let cursor = after; items.length < count;) {
    const { body } = await get(key, `?after=${cursor}&wait=20${query}`);
    if (body.items.length === 0) break;
    items.push(...body.items);
    cursor = body.next_cursor;
  }
  return items;
}

test("shows a change with who made it, and goes on after its cursor", async () => {
  const start = await end(keys.editor);
  const made = await call(
    stack.url,
    keys.editor,
    "POST",
    "/folders",
    { name: "Not in events", space_id: spaces.research },
    { "x-request-id": "folder-1" },
  );
  const page = await get(keys.editor, `?after=${start}&wait=20&types=folder.created`);

  expect(page.status).toBe(200);
  expect(page.body).toEqual({
    items: [
      {
        id: expect.any(String),
        type: "folder.created",
        occurred_at: expect.stringMatching(/Z$/),
        organization_id: tenants.acme,
        space_id: spaces.research,
        resource: { type: "folder", id: made.body.id },
        actor: { type: "api_key", user_id: people.ids.eve, api_key_id: expect.any(String) },
        request_id: made.headers.get("x-request-id"),
        data: expect.any(Object),
      },
    ],
    next_cursor: expect.any(String),
    has_more: false,
  });
  expect(JSON.stringify(page.body)).not.toContain("Not in events");
  expect((await get(keys.editor, `?after=${page.body.next_cursor}`)).body).toEqual({
    items: [],
    next_cursor: page.body.next_cursor,
    has_more: false,
  });
});

test("holds a request with `wait` until an event comes that the caller sees", async () => {
  const start = await end(keys.viewer);
  const waiting = get(keys.viewer, `?after=${start}&wait=30&types=folder.created`);
  // Vic is not in Archive.
  await makeFolder(keys.owner, spaces.archive);
  const seen = await makeFolder(keys.owner, spaces.research);

  expect((await waiting).body.items.map(({ resource }: any) => resource.id)).toEqual([seen]);
});

test("narrows to types, a space and a resource, in pages without gaps", async () => {
  const start = await end(keys.owner);
  const inArchive = await makeFolder(keys.owner, spaces.archive);
  const first = await makeFolder(keys.owner, spaces.research);
  const second = await makeFolder(keys.owner, spaces.research);
  await readOn(keys.owner, start, 3, "&types=folder.created");
  const ids = async (query: string): Promise<string[]> =>
    (await get(keys.owner, `?after=${start}&types=folder.created${query}`)).body.items.map(
      ({ resource }: any) => resource.id,
    );

  expect(await ids("")).toEqual([inArchive, first, second]);
  expect(await ids(`&space_id=${spaces.archive}`)).toEqual([inArchive]);
  expect(await ids(`&resource_id=${second}`)).toEqual([second]);
  expect((await get(keys.owner, `?after=${start}&types=agent.created`)).body.items).toEqual([]);
  const page = (await get(keys.owner, `?after=${start}&types=folder.created&limit=2`)).body;
  expect(page).toMatchObject({ has_more: true, items: [{}, {}] });
  expect(await readOn(keys.owner, page.next_cursor, 1, "&types=folder.created")).toMatchObject([
    { resource: { id: second } },
  ]);
});

test("shows nobody more than they reach, nor another organization anything", async () => {
  const start = { owner: await end(keys.owner), rival: await end(keys.rival) };
  const folder = await makeFolder(keys.owner, spaces.archive);
  await readOn(keys.owner, start.owner, 1, `&resource_id=${folder}`);
  const seenBy = async (key: string, after: string): Promise<number> =>
    (await get(key, `?after=${after}&resource_id=${folder}`)).body.items.length;

  expect(await seenBy(keys.owner, start.owner)).toBe(1);
  expect(await seenBy(keys.scoped, start.owner)).toBe(1);
  expect(await seenBy(keys.viewer, start.owner)).toBe(0);
  expect(await seenBy(keys.rival, start.rival)).toBe(0);
});

test("refuses a cursor that is none, or another organization's", async () => {
  const foreign = await end(keys.rival);
  for (const query of [`?after=${foreign}`, "?after=garbage", "?after=MTox", "?after="])
    expect(await get(keys.owner, query)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "after"] }] },
    });
  const streamed = await call(stack.url, keys.owner, "GET", "/events/stream", undefined, {
    "last-event-id": foreign,
  });
  expect(streamed).toMatchObject({ status: 422, body: { detail: [{ loc: ["header", "last-event-id"] }] } });
  expect((await get(keys.owner, "?wait=31&limit=101&types=x")).body.detail).toHaveLength(3);
});

test("answers a cursor older than what is kept with the oldest one that is", async () => {
  const start = await end(keys.rival);
  const folder = await makeFolder(keys.rival, spaces.rival);
  const [event] = await readOn(keys.rival, start, 1, `&resource_id=${folder}`);
  await makeFolder(keys.rival, spaces.rival);
  const { owner } = stack.database.db;
  await owner.query(
    `update event_positions
     set expired_position = (select position from events where id = $2)
     where organization_id = $1`,
    [tenants.rival, event.id],
  );
  const expired = await get(keys.rival, `?after=${start}`);

  expect(expired).toMatchObject({
    status: 410,
    body: { code: "cursor_expired", oldest: expect.any(String) },
  });
  expect((await get(keys.rival, `?after=${expired.body.oldest}`)).status).toBe(200);
  expect((await call(stack.url, keys.rival, "GET", `/events/stream?after=${start}`)).status).toBe(410);
});
