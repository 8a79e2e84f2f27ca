/** Tests the client's iterator over events against the service, over connections that are cut. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type EventsOptions, createHoldfast } from "../../clients/typescript/src/index.ts";
import { type EventApp, happen, startEventApp } from "../support/app/event-app.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";
import { type FaultyConnection, startFaultyConnection } from "../support/servers/faulty-connection.ts";
import { makeKey, makeOrganization, makeSpace, makeUser } from "../support/tenants/callers.ts";
import { until } from "../support/until.ts";

const EVENTS = 12;

let database: TestDatabase;
let app: EventApp;
let connection: FaultyConnection;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await startEventApp(database);
  connection = await startFaultyConnection(app.url);
});
afterAll(async () => {
  await connection.close();
  await app.close();
  await database.drop();
});

afterEach(() => connection.heal());

/** Somebody with a space, in which folders are made. */
async function someone() {
  const { db } = database;
  const organization = await makeOrganization(db);
  const user = await makeUser(db, organization);
  const { text: credential } = await makeKey(db, organization, user);
  const space = await makeSpace(db, organization, [[user, "owner"]]);
  return {
    makeFolder: () => happen(database, organization, { type: "folder.created" }, space),
    client: createHoldfast({ baseUrl: connection.origin, credential }),
  };
}
type Someone = Awaited<ReturnType<typeof someone>>;

async function take({ client }: Someone, count: number, options: EventsOptions): Promise<unknown[]> {
  const ids: unknown[] = [];
  for await (const { event } of client.events(options)) {
    ids.push(event.resource.id);
    if (ids.length === count) break;
  }
  return ids;
}

const isStream = ({ url }: { readonly url: string }): boolean => url.includes("/stream");
const isPoll = ({ url }: { readonly url: string }): boolean => url.includes("wait=");

test.each([
  { transport: "stream", fault: { cutAfterBytes: 1_000 }, matches: isStream },
  { transport: "poll", fault: "lose the answer", matches: isPoll },
] as const)(
  "a $transport gives each event once and in order over connections that break",
  async ({ transport, fault, matches }) => {
    const person = await someone();
    const countAsked = connection.failFirst(3, fault, matches);
    const taking = take(person, EVENTS, { transport });
    await until("the first request is there", () => countAsked() > 0);
    const made: string[] = [];
    for (let number = 0; number < EVENTS; number += 1) made.push(await person.makeFolder());
    expect(await taking).toEqual(made);
    expect(countAsked()).toBeGreaterThan(3);
  },
);

test("a cursor goes on where the iteration was left", async () => {
  const person = await someone();
  const made = [await person.makeFolder(), await person.makeFolder(), await person.makeFolder()];
  const { data: start } = await person.client.api.GET("/v1/events", { params: { query: { limit: 1 } } });
  expect(await take(person, 2, { after: start!.next_cursor, types: ["folder.created"] })).toEqual(
    made.slice(1),
  );
});

test("a text that is no cursor, and a credential that is none, end the iteration", async () => {
  const { client } = await someone();
  await expect(client.events({ after: "garbage" }).next()).rejects.toMatchObject({ status: 422 });
  const nobody = createHoldfast({ baseUrl: connection.origin, credential: `sk-${"x".repeat(49)}` });
  await expect(nobody.events().next()).rejects.toMatchObject({
    name: "AuthenticationError",
    status: 401,
    code: "invalid_api_key",
  });
});
