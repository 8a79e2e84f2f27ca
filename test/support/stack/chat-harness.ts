/**
 * Runs chat in the test's process: the real API with its chat host, and a worker for tools, on queues of its
 * own.
 */
import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { NativeConnection, Worker } from "@temporalio/worker";
import type { ChatActivities } from "../../../src/activities/chat.ts";
import { type ToolActivities, createToolActivities } from "../../../src/activities/tools.ts";
import { createApp } from "../../../src/api/app.ts";
import { ROUTES } from "../../../src/api/routes/index.ts";
import { listen } from "../../../src/api/server.ts";
import type { ChatHost, ChatHostDeps } from "../../../src/api/turns/chat-host.ts";
import { loadConfig, requireReal } from "../../../src/config/config.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { type Deps, openApiDeps } from "../../../src/api/deps.ts";
import { newId } from "../../../src/domain/ids.ts";
import { registerSearchAttributes } from "../../../src/temporal/search-attributes.ts";
import { makeKey, makeOrganization, makeSpace, makeUser, pepperOf } from "../tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../servers/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../provider/scripted-provider.ts";
import { quietRuntime } from "../workflows/temporal-runtime.ts";

const MASTER_KEY = Buffer.alloc(32, 9).toString("base64");
const DIMENSIONS = 64;
const TOOL_TIMEOUT_MS = 1_500;

export interface ChatHarness {
  readonly url: string;
  readonly provider: ScriptedProvider;
  readonly database: TestDatabase;
  readonly host: ChatHost;
  readonly client: Client;
  readonly organization: OrganizationRef;
  readonly userId: string;
  readonly spaceId: string;
  /** The key of a user who owns the space. */
  readonly key: string;
  /** Another key, for the same user if no other is named; `of` is the organization of another user. */
  makeKey(fields?: {
    readonly of?: OrganizationRef;
    readonly userId?: string;
    readonly spaces?: readonly string[];
  }): Promise<string>;
  /** Makes an agent in the space and returns its id. */
  addAgent(fields?: Record<string, unknown>): Promise<string>;
  /** Sends `POST /v1/chat/completions`. */
  chat(body: Record<string, unknown>, init?: { signal?: AbortSignal; key?: string }): Promise<Response>;
  close(): Promise<void>;
}

export interface ChatOptions {
  /** Additional settings of the API. */
  readonly env?: Record<string, string>;
  /** Parts of the chat host that no setting changes. */
  readonly parts?: Partial<Pick<ChatHostDeps, "model" | "unreadMaxMs" | "turnBudget" | "pingMs">>;
  /** The address of a relay that a test has put between this process and Temporal. */
  readonly temporalAddress?: string;
  /** Behaves as if the workflow ran in a process that does not hold its turn, and makes its tools fail. */
  readonly isElsewhere?: boolean;
}

function settings(
  database: TestDatabase,
  provider: ScriptedProvider,
  temporalAddress: string,
): Record<string, string> {
  return {
    NODE_ENV: "test",
    ...database.env,
    DATABASE_POOL_SIZE: "10",
    TEMPORAL_ADDRESS: temporalAddress,
    MASTER_KEY,
    LOG_LEVEL: "error",
    RATE_LIMIT_RPM: "1000000",
    CHAT_RATE_LIMIT_RPM: "1000000",
    REFUSAL_RATE_LIMIT_RPM: "1000000",
    OPENAI_BASE_URL: provider.url,
    OPENAI_API_KEY: "sk-scripted",
    CHAT_MODEL: "scripted-chat",
    EMBEDDING_MODEL: "scripted-embedding",
    EMBEDDING_DIMENSIONS: String(DIMENSIONS),
  };
}

export async function startChat({
  env = {},
  parts = {},
  temporalAddress,
  isElsewhere = false,
}: ChatOptions = {}): Promise<ChatHarness> {
  const address = process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"];
  if (address === undefined) throw new Error("HOLDFAST_TEST_TEMPORAL_ADDRESS is not set");
  quietRuntime();
  const [database, provider] = await Promise.all([
    createTestDatabase(),
    startScriptedProvider({ dimensions: DIMENSIONS }),
  ]);
  const config = requireReal(
    loadConfig({ ...settings(database, provider, temporalAddress ?? address), ...env }),
  );
  const queues = { chat: `chat-${randomUUID()}`, tools: `tools-${randomUUID()}` };
  const deps = await openApiDeps(config, {
    chat: (usual) => ({
      ...usual,
      ...parts,
      queues,
      createActivities: (turns) => activitiesOf(usual.createActivities(turns), isElsewhere),
    }),
  });
  await registerSearchAttributes(deps.temporal, config.temporal.namespace);
  const listening = await listen(createApp(deps, ROUTES), { host: "127.0.0.1", port: 0 });
  const tools = await startTools(deps, address, queues.tools);
  const { db } = database;
  const pepper = await pepperOf(db, deps.masterKey);
  const organization = await makeOrganization(db);
  const userId = await makeUser(db, organization);
  const spaceId = await makeSpace(db, organization, [[userId, "owner"]]);
  const { text: key } = await makeKey(db, organization, userId, { pepper });
  await deps.chat.ready;
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    url,
    provider,
    database,
    host: deps.chat,
    client: deps.temporal,
    organization,
    userId,
    spaceId,
    key,
    makeKey: async ({ of = organization, userId: owner = userId, spaces = null } = {}) =>
      (await makeKey(db, of, owner, { pepper, spaces })).text,
    addAgent: (fields = {}) =>
      insertAgent(database, {
        organization_id: organization.id,
        space_id: spaceId,
        created_by: userId,
        last_edited_by: userId,
        ...fields,
      }),
    chat: (body, init = {}) =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${init.key ?? key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        ...(init.signal ? { signal: init.signal } : {}),
      }),
    async close() {
      await tools.close();
      await listening.close(100);
      await deps.close();
      await provider.close();
      await database.drop();
    },
  };
}

/** Starts the worker of the queue `tools`, as a worker process does. */
async function startTools(
  deps: Deps,
  address: string,
  taskQueue: string,
): Promise<{ close(): Promise<void> }> {
  const connection = await NativeConnection.connect({ address });
  const activities = {
    ...createToolActivities({
      ...deps,
      toolTimeoutMs: TOOL_TIMEOUT_MS,
      isModelProvided: deps.config.models.chatModel !== undefined,
    }),
  };
  const worker = await Worker.create({
    ...deps.workerHooks,
    connection,
    taskQueue,
    dataConverter: deps.workerDataConverter,
    activities,
  });
  const run = worker.run();
  return {
    async close() {
      worker.shutdown();
      await run;
      await connection.close();
    },
  };
}

async function insertAgent({ db }: TestDatabase, fields: Record<string, unknown>): Promise<string> {
  const id = newId();
  const row: Record<string, unknown> = { id, name: `Agent ${randomUUID()}`, ...fields };
  if (row["tool_attachments"] !== undefined)
    row["tool_attachments"] = JSON.stringify(row["tool_attachments"]);
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await db.owner.query(
    `insert into agents (${columns.join(", ")}) values (${places.join(", ")})`,
    Object.values(row),
  );
  return id;
}

function activitiesOf(
  activities: ChatActivities & ToolActivities,
  isElsewhere: boolean,
): ChatActivities & ToolActivities {
  if (!isElsewhere) return activities;
  return {
    ...activities,
    callModel: async (input) =>
      Context.current().info.isLocal ? { type: "unknown" } : activities.callModel(input),
    async runTool() {
      throw ApplicationFailure.create({
        type: "database_unavailable",
        message: "The database is not reachable.",
      });
    },
  };
}
