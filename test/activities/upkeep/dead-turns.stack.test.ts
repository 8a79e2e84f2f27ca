/** Turns of an API process that died are ended in Postgres and in Temporal. */
import { randomUUID } from "node:crypto";
import type { Client } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTurnSweeper } from "../../../src/activities/upkeep/dead-turns.ts";
import { renewApiProcess } from "../../../src/db/instance/process-leases.ts";
import { insertOpenTurns, writeTurnEnds } from "../../../src/db/turns/ledger.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createChatStarter, eagerClient } from "../../../src/temporal/start/chat.ts";
import { registerSearchAttributes } from "../../../src/temporal/search-attributes.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";

const LONG_AGO_MS = 60_000;

let database: TestDatabase;
let connection: NativeConnection;
let client: Client;
let organization: { id: string; num: number };

beforeAll(async () => {
  // oxlint-disable-next-line node/no-process-env -- the set-up of the tests hands the server over in it
  connection = await NativeConnection.connect({
    address: process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"] ?? "",
  });
  client = eagerClient(connection, "default", {});
  await registerSearchAttributes(client, "default");
  database = await createTestDatabase();
  organization = await makeOrganization(database.db);
});

afterAll(async () => {
  await connection.close();
  await database.drop();
});

/** Makes a turn with this status, whose workflow waits for its API process. */
async function turnOf(apiProcessId: string, status: "open" | "completed") {
  const { db } = database;
  const [spaceId, agentId, userId] = [newId(), newId(), newId()];
  const ids = {
    id: newId(),
    organization_id: organization.id,
    space_id: spaceId,
    agent_id: agentId,
    user_id: userId,
    api_key_id: null,
    api_process_id: apiProcessId,
  };
  const row = { ...ids, starts_conversation: false, started_at: new Date() };
  await renewApiProcess(db, apiProcessId, true);
  await insertOpenTurns(db, [row]);
  if (status !== "open")
    await writeTurnEnds(db, [{ ...row, status, error_code: null, ended_at: new Date() }], []);
  const caller = { organization, agentId, userId, apiKeyId: null };
  const input = { apiQueue: `api-${apiProcessId}`, toolQueue: "tools", turnId: row.id, caller, calls: [] };
  const workflowId = await createChatStarter(() => client, `nobody-polls-${randomUUID()}`).startTurn(
    { agentId, spaceId },
    input,
  );
  return {
    async state() {
      const { rows } = await db.owner.query<{ status: string }>("select status from turns where id = $1", [
        row.id,
      ]);
      return [rows[0]?.status, (await client.workflow.getHandle(workflowId).describe()).status.name];
    },
    end: () => client.workflow.getHandle(workflowId).terminate(),
  };
}

test("a dead process leaves no workflow, neither of an open turn nor of one that had ended", async () => {
  const [dead, living] = [randomUUID(), randomUUID()];
  const [open, ended, other] = [
    await turnOf(dead, "open"),
    await turnOf(dead, "completed"),
    await turnOf(living, "completed"),
  ];
  await database.db.owner.query(
    "update api_processes set renewed_at = now() - interval '1 minute' where id = $1",
    [dead],
  );
  // The database was available during that minute.
  let now = Date.now();
  const sweep = createTurnSweeper({ db: database.db, client, nowMs: () => now });
  now += LONG_AGO_MS;
  await sweep();
  expect(await open.state()).toEqual(["lost", "TERMINATED"]);
  expect(await ended.state()).toEqual(["completed", "TERMINATED"]);
  expect(await other.state()).toEqual(["completed", "RUNNING"]);
  const { rows } = await database.db.owner.query<{ id: string }>("select id from api_processes");
  expect(rows).toEqual([{ id: living }]);
  await other.end();
});
