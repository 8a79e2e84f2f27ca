/** Streams of events: across processes, taken up again, ended by a lost right or a drain, and bounded. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OrganizationRef } from "../../../../src/db/pool.ts";
import { type EventApp, happen, startEventApp } from "../../../support/app/event-app.ts";
import { type OpenStream, openStream } from "../../../support/clients/event-stream.ts";
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
  key = await makeKey(db, organization, user);
  space = await makeSpace(db, organization, [[user, "owner"]]);
});

const open = (query = "", headers = {}, text = key.text) => openStream(app.url, text, query, headers);
const folder = (spaceId: string = space) =>
  happen(database, organization, { type: "folder.created" }, spaceId);
const idIn = (frame: { data: string } | undefined): string => JSON.parse(frame!.data).resource.id;

/** Reads `count` frames. */
async function read(stream: OpenStream, count: number): Promise<{ data: string; id?: string | undefined }[]> {
  const frames: { data: string; id?: string | undefined }[] = [];
  while (frames.length < count) frames.push((await stream.next())!);
  return frames;
}

test("goes on after Last-Event-ID, on another process, with no event lost or doubled", async () => {
  const other = await startEventApp(database);
  const first = await open();
  const made = [await folder(), await folder()];
  const seen = await read(first, 1);
  await first.close();
  made.push(await folder());
  const second = await openStream(other.url, key.text, "?after=now", { "last-event-id": seen[0]!.id! });
  seen.push(...(await read(second, 2)));
  made.push(await folder());
  seen.push(...(await read(second, 1)));
  await second.close();
  await other.close();

  expect(second.response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(seen.map(idIn)).toEqual(made);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(made.length);
});

test("shows what happens in a space that is newer than the last look at the caller's rights", async () => {
  const stream = await open();
  await folder();
  await read(stream, 1);
  const fresh = await makeSpace(database.db, organization, [[user, "owner"]]);
  const id = await folder(fresh);

  expect(idIn((await read(stream, 1))[0])).toBe(id);
  await stream.close();
});

test("ends with the refusal when its key is revoked", async () => {
  const stream = await open();
  await database.db.owner.query("update api_keys set revoked_at = now() where id = $1", [key.id]);
  await folder();

  const end = await stream.next();
  expect(end?.event).toBe("end");
  expect(JSON.parse(end?.data ?? "")).toMatchObject({
    status: 401,
    detail: "Invalid API key",
    error: { code: "key_revoked" },
  });
  expect(await stream.next()).toBeUndefined();
});

test("shows nothing more of a space to whom was removed from it", async () => {
  const rest = await makeSpace(database.db, organization, [[user, "owner"]]);
  const stream = await open();
  await database.db.owner.query("update space_members set role = 'viewer' where space_id = $1", [space]);
  await database.db.owner.query("delete from space_members where space_id = $1", [space]);
  await folder();
  const shown = await folder(rest);

  expect(idIn(await stream.next())).toBe(shown);
  await stream.close();
});

test("moves its cursor on over what the caller does not see", async () => {
  const hidden = await makeSpace(database.db, organization, [
    [await makeUser(database.db, organization), "owner"],
  ]);
  const start = (await call(app.url, key.text, "GET", "/events?after=now")).body.next_cursor;
  await folder(hidden);
  const end = (await call(app.url, key.text, "GET", "/events?after=now")).body.next_cursor;
  const response = await fetch(`${app.url}/v1/events/stream?after=${start}`, {
    headers: { authorization: `Bearer ${key.text}` },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();

  expect((await reader.read()).value).toBe(`id: ${end}\n\n`);
  await reader.cancel();
});

test("refuses the eleventh of a key, the twenty-first of a user, and one too many in a process", async () => {
  const keys = [
    key,
    await makeKey(database.db, organization, user),
    await makeKey(database.db, organization, user),
  ];
  const [first, second, third] = keys.map(({ text }) => text);
  const streams = await Promise.all(
    [first, second].flatMap((text) => Array.from({ length: 10 }, () => open("", {}, text))),
  );
  const refused = [await open("", {}, first), await open("", {}, third)];
  const waiting = await call(app.url, first!, "GET", "/events?after=now&wait=1");

  expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
  expect(
    refused.map(({ response: { status, headers } }) => [status, headers.get("ratelimit-policy")]),
  ).toEqual([
    [429, '"key-event-streams";q=10'],
    [429, '"user-event-streams";q=20'],
  ]);
  expect(waiting).toMatchObject({ status: 429, body: { detail: expect.any(String) } });
  expect(waiting.headers.get("retry-after")).toBe("5");
  await Promise.all(streams.map((stream) => stream.close()));
  await until("the places are free again", async () => app.events.seats.counts().stream === 0);

  const small = await startEventApp(database, { streamsPerProcess: 1 });
  const only = await openStream(small.url, key.text);
  const tooMany = await openStream(small.url, key.text);
  expect(tooMany.response.headers.get("ratelimit-policy")).toBe('"process-event-streams";q=1');
  await only.close();
  await small.close();
});

test("ends streams in order, and answers waits, when the process stops", async () => {
  const stopping = await startEventApp(database);
  const stream = await openStream(stopping.url, key.text);
  const waiting = call(stopping.url, key.text, "GET", "/events?after=now&wait=30");
  await until("both wait", async () => {
    const { stream: streams, wait } = stopping.events.seats.counts();
    return streams === 1 && wait === 1;
  });
  stopping.events.hub.drain();

  expect(await stream.next()).toBeUndefined();
  expect(await waiting).toMatchObject({ status: 200, body: { items: [], has_more: false } });
  await stopping.close();
});

test("a client that leaves before its stream begins takes no seat", async () => {
  const leaves = new AbortController();
  const lock = await database.db.owner.connect();
  await lock.query("begin; lock event_positions in access exclusive mode");
  const opening = fetch(`${app.url}/v1/events/stream`, {
    headers: { authorization: `Bearer ${key.text}` },
    signal: leaves.signal,
  }).catch(() => undefined);
  await until("the request waits for the log", async () => {
    const { rowCount } = await lock.query(
      "select from pg_locks where relation = 'event_positions'::regclass and not granted",
    );
    return rowCount === 1;
  });
  leaves.abort();
  await opening;
  // Another request of the same process: what it answers comes after the end of that connection.
  expect((await fetch(`${app.url}/v1/events/stream`)).status).toBe(401);
  await lock.query("commit");
  lock.release();

  await (await open()).close();
  await until("no stream is open", async () => app.events.seats.counts().stream === 0);
});
