/**
 * Records a history of each workflow for the replay tests: `node test/support/workflows/record-histories.ts`.
 * Run it after adding a workflow. Payloads are stored decrypted; they hold only ids and counts of a stack
 * that is thrown away.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { Payload, PayloadCodec } from "@temporalio/common";
import proto from "@temporalio/proto";
import { loadConfig, requireReal } from "../../../src/config/config.ts";
import { openSharedDeps, type SharedDeps } from "../../../src/deps.ts";
import { call, ended, upload } from "../clients/client.ts";
import { runCli } from "../stack/processes.ts";
import { makeEndpoint } from "../events/endpoints.ts";
import { type Receiver, startReceiver } from "../events/receiver.ts";
import setup from "../run/global-setup.ts";
import { type Stack, startStack } from "../stack/stack.ts";
import { ACME, AGENTS, KEYS, SPACES } from "../tenants/tenants.ts";
import { until } from "../until.ts";

const FOLDER = join(import.meta.dirname, "../../replay");
const WORKFLOWS = [
  "documentPipeline",
  "chatTurns",
  "chatTurn",
  "batchReprocess",
  "deleteTarget",
  "maintenance",
  "indexUpkeep",
  "operation",
  "webhookDelivery",
];

/** Sends the requests that start each workflow once. */
async function exercise({ url, provider, env }: Stack, client: Client): Promise<void> {
  const ask = (model: string) =>
    call(url, KEYS.editor, "POST", "/chat/completions", {
      model,
      messages: [{ role: "user", content: "hello" }],
    });
  const document = await upload(url, KEYS.editor, SPACES.research, "# Heading\n\nSome text to record.");
  await ended(url, KEYS.editor, document.id);
  await until("chat is ready", async () => (await ask(AGENTS.analyst)).status === 200);
  provider.reply({ toolCalls: [{ name: "current_time", arguments: "{}" }] }, { pieces: ["done"] });
  await ask(AGENTS.librarian);
  const { body: batch } = await call(url, KEYS.editor, "POST", "/data/batch-reprocess", {
    document_ids: [document.id],
  });
  await until(
    "the batch has ended",
    async () =>
      (await call(url, KEYS.editor, "GET", `/data/batches/${batch.batch_id}`)).body.status === "completed",
  );
  await call(url, KEYS.editor, "DELETE", `/data/${document.id}`);
  await runCli(["keys", "rotate-organization", ACME], env);
  await client.schedule.getHandle("maintenance").trigger();
  await client.schedule.getHandle("index-upkeep").trigger();
}

function isPayload(value: object): value is Payload {
  return "metadata" in value && "data" in value;
}

/** Decrypts every payload inside the value, in place. */
async function decrypt(value: unknown, codec: PayloadCodec): Promise<void> {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  for (const [name, child] of Object.entries(value)) {
    if (typeof child === "object" && child !== null && isPayload(child))
      Object.assign(value, { [name]: (await codec.decode([child]))[0] });
    else await decrypt(child, codec);
  }
}

/** Makes an endpoint whose receiver fails at first, so that its workflow waits too. */
async function startReceiving({ keyring }: SharedDeps, { database }: Stack): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.answer((response) => response.writeHead(receiver.received.length < 3 ? 500 : 204).end());
  const { rows } = await database.db.owner.query<{ id: string }>(
    "select id from users where organization_id = $1 and role = 'admin'",
    [ACME],
  );
  await makeEndpoint(database.db, keyring, {
    organizationId: ACME,
    createdBy: rows[0]!.id,
    url: receiver.url,
  });
  return receiver;
}

const stop = await setup();
const stack = await startStack();
const deps = await openSharedDeps(requireReal(loadConfig(stack.env)), "recorder");
const receiver = await startReceiving(deps, stack);
const connection = await Connection.connect({ address: stack.temporalAddress });
try {
  const client = new Client({ connection });
  await exercise(stack, client);
  const missing = new Set(WORKFLOWS);
  await until("every workflow has closed", async () => {
    for await (const workflow of client.workflow.list()) {
      if (workflow.status.name !== "COMPLETED" || !missing.has(workflow.type)) continue;
      const history = await client.workflow.getHandle(workflow.workflowId, workflow.runId).fetchHistory();
      await decrypt(history, deps.dataConverter.payloadCodecs![0]!);
      const recorded = proto.temporal.api.history.v1.History.toObject(history as never, {
        bytes: String,
        longs: String,
        enums: String,
      });
      await writeFile(join(FOLDER, `${workflow.type}.json`), `${JSON.stringify(recorded)}\n`);
      missing.delete(workflow.type);
    }
    return missing.size === 0;
  });
} finally {
  await receiver.close();
  await connection.close();
  await deps.close();
  await stack.close();
  await stop();
}
