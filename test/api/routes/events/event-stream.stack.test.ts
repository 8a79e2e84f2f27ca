/** Streams of events on the real stack: taken up again, ended by a lost right, and bounded. */
import { expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { call } from "../../../support/clients/client.ts";
import { openStream } from "../../../support/clients/event-stream.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;
const { keys, spaces } = tenants;

const makeFolder = async (spaceId: string = spaces.research): Promise<string> =>
  (await call(stack.url, keys.owner, "POST", "/folders", { name: newId(), space_id: spaceId })).body.id;
const makeKey = async (who: "ada" | "vic"): Promise<{ id: string; key: string }> =>
  (await people.as(who, "POST", "/me/api-keys", { name: newId() })).body;

test("goes on after Last-Event-ID with no event lost or doubled", async () => {
  const first = await openStream(stack.url, keys.viewer, "?types=folder.created");
  const made = [await makeFolder(), await makeFolder()];
  const seen = [(await first.next())!];
  await first.close();
  made.push(await makeFolder());
  const second = await openStream(stack.url, keys.viewer, "?types=folder.created", {
    "last-event-id": seen[0]!.id!,
  });
  made.push(await makeFolder());
  while (seen.length < made.length) seen.push((await second.next())!);
  await second.close();

  expect(second.response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(seen.map(({ data }) => JSON.parse(data).resource.id)).toEqual(made);
});

test("shows what happens in a space from the moment it is made", async () => {
  const stream = await openStream(stack.url, keys.owner, "?types=folder.created&types=space.created");
  const { body: space } = await people.as("ada", "POST", "/spaces", { name: newId() });
  const folder = await people.as("ada", "POST", "/folders", { name: newId(), space_id: space.id });
  const seen = [await stream.next(), await stream.next()].map((frame) => JSON.parse(frame!.data).resource.id);
  await stream.close();

  expect(seen).toEqual([space.id, folder.body.id]);
});

test("ends with the refusal when its key is revoked", async () => {
  const { id, key } = await makeKey("vic");
  const stream = await openStream(stack.url, key);
  const waiting = call(stack.url, key, "GET", "/events?after=now&wait=30&types=agent.created");
  await until("the key waits", async () => {
    const { rows } = await stack.database.db.owner.query(
      "select from audit_log where api_key_id = $1 and action = 'events:read'",
      [id],
    );
    return rows.length > 0;
  });
  await people.as("vic", "DELETE", `/me/api-keys/${id}`);

  expect(await stream.next()).toMatchObject({
    event: "end",
    data: JSON.stringify({ status: 401, detail: "Invalid API key" }),
  });
  expect(await stream.next()).toBeUndefined();
  expect(await waiting).toMatchObject({ status: 401, body: { detail: "Invalid API key" } });
});

test("shows nothing more of a space to whom was removed from it", async () => {
  const stream = await openStream(stack.url, keys.viewer, "?types=folder.created");
  await people.as("ada", "DELETE", `/spaces/${spaces.research}/members/${people.ids.vic}`);
  const hidden = await makeFolder();
  await people.as("ada", "PUT", `/spaces/${spaces.research}/members/${people.ids.vic}`, { role: "viewer" });
  const shown = await makeFolder();
  const frame = await stream.next();
  await stream.close();

  expect([hidden, shown]).toContain(JSON.parse(frame!.data).resource.id);
});

test("refuses the eleventh stream of a key and the twenty-first of a user", async () => {
  const made = [await makeKey("ada"), await makeKey("ada"), await makeKey("ada")];
  const [first, second, third] = made.map(({ key }) => key) as [string, string, string];
  const open = (key: string) => openStream(stack.url, key);
  const streams = await Promise.all(
    [first, second].flatMap((key) => Array.from({ length: 10 }, () => open(key))),
  );
  const refused = [await open(first), await open(third)];

  expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
  expect(refused.map(({ response }) => response.headers.get("ratelimit-policy"))).toEqual([
    '"key-event-streams";q=10',
    '"user-event-streams";q=20',
  ]);
  expect(refused.map(({ response }) => [response.status, response.headers.has("retry-after")])).toEqual([
    [429, true],
    [429, true],
  ]);
  await Promise.all(streams.map((stream) => stream.close()));
  await until("the seats are free again", async () => {
    const again = await open(first);
    await again.close();
    return again.response.status === 200;
  });
});
