/** A deleted or changed agent holds from the next request on, in every process. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentLookup, createAgentLookup } from "../../../src/api/turns/agent-lookup.ts";
import { listenForEvents } from "../../../src/db/events/listen.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createTestDatabase, loginUrlsOf, type TestDatabase } from "../../support/servers/database.ts";
import { makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import { until } from "../../support/until.ts";

/** Nothing but being told makes such a process look again. */
const FOR_EVER_MS = 3_600_000;

let database: TestDatabase;
let organization: OrganizationRef;
let spaceId: string;
let userId: string;
const heard: string[] = [];
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  organization = await makeOrganization(database.db);
  userId = await makeUser(database.db, organization);
  spaceId = await makeSpace(database.db, organization, [[userId, "owner"]]);
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await database.drop();
});

async function makeAgent(): Promise<string> {
  const id = newId();
  await database.db.owner.query(
    `insert into agents (id, organization_id, space_id, name, model, created_by, last_edited_by)
     values ($1, $2, $3, $5, 'default', $4, $4)`,
    [id, organization.id, spaceId, userId, `Agent ${id}`],
  );
  return id;
}

/** As in a process of its own. */
async function listeningLookup(): Promise<AgentLookup> {
  const lookup = createAgentLookup(database.db, FOR_EVER_MS);
  let isConnected = false;
  stops.push(
    listenForEvents({
      url: loginUrlsOf(database.url).app,
      onEvents: () => {},
      onAgents(id) {
        heard.push(id);
        lookup.forget(id);
      },
      onConnected() {
        isConnected = true;
        lookup.forget();
      },
      onLost: () => {},
    }),
  );
  await until("it listens", () => isConnected);
  return lookup;
}

const change = (text: string, id: string) => database.db.owner.query(text, [id]);

test("each process drops an agent when it is changed or deleted, whoever does it", async () => {
  const processes = [await listeningLookup(), await listeningLookup()];
  const agentId = await makeAgent();
  const promptsOf = async () =>
    Promise.all(processes.map(async ({ find }) => (await find(organization, agentId))?.system_prompt));

  expect(await promptsOf()).toEqual(["", ""]);
  await change("update agents set system_prompt = 'Be brief.' where id = $1", agentId);
  await until("both have the new prompt", async () =>
    (await promptsOf()).every((text) => text === "Be brief."),
  );
  await change("update agents set deleted_at = now() where id = $1", agentId);
  await until("neither has it", async () => (await promptsOf()).every((text) => text === undefined));
});

test("a space takes its agents with it", async () => {
  const { find } = await listeningLookup();
  const agentId = await makeAgent();

  expect(await find(organization, agentId)).toMatchObject({ id: agentId });
  await change("update spaces set deleted_at = now() where id = $1", spaceId);
  await until("it is gone", async () => (await find(organization, agentId)) === undefined);
  await change("update spaces set deleted_at = null where id = $1", spaceId);
});

test("a conversation that is counted drops nothing", async () => {
  await listeningLookup();
  const [counted, changed] = [await makeAgent(), await makeAgent()];

  await change("update agents set conversation_count = conversation_count + 1 where id = $1", counted);
  await change("update agents set system_prompt = 'Be brief.' where id = $1", changed);
  await until("the later change is heard", () => heard.includes(changed));

  expect(heard).not.toContain(counted);
});

test("a look-up that was under way when the agent changed is not kept", async () => {
  const lookup = createAgentLookup(database.db, FOR_EVER_MS);
  const agentId = await makeAgent();

  const before = lookup.find(organization, agentId);
  await change("update agents set deleted_at = now() where id = $1", agentId);
  lookup.forget(agentId);
  await before;

  expect(await lookup.find(organization, agentId)).toBeUndefined();
});
