/** Chat in one process for tests: the real API, its chat host and a worker for tools, on the run's Postgres and Temporal, with queues of its own. */
import { randomBytes, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Client } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkflowBundleWithSourceMap, bundleWorkflowCode } from "@temporalio/worker";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { type ChatActivities, createChatActivities } from "../../src/activities/chat.ts";
import { type ToolActivities, createToolActivities } from "../../src/activities/tools.ts";
import { type ToolSettings, createToolbox } from "../../src/agents/tools/index.ts";
import { createSharedCounter } from "../../src/api/shared-counter.ts";
import { createApp } from "../../src/api/app.ts";
import { createChatCompletion } from "../../src/api/routes/chat.ts";
import { listModels } from "../../src/api/routes/models.ts";
import { listen } from "../../src/api/server.ts";
import { type ChatHost, createChatHost } from "../../src/api/turns/chat-host.ts";
import type { TokenBudgets } from "../../src/api/turns/token-budgets.ts";
import { createAuditLog } from "../../src/auth/audit-log.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { createLastUsed } from "../../src/auth/last-used.ts";
import { insertFirstOrganizationKey, listOrganizationKeys } from "../../src/db/organization-keys.ts";
import type { OrganizationKey } from "../../src/db/pool.ts";
import type { Deps } from "../../src/deps.ts";
import { newId } from "../../src/domain/ids.ts";
import type { TurnBudget } from "../../src/domain/turn.ts";
import { createLog } from "../../src/log.ts";
import { type ChatFallback, createChatModel } from "../../src/models/chat-model.ts";
import { createEmbeddingModel } from "../../src/models/embedding-model.ts";
import { cacheQueries } from "../../src/models/query-embeddings.ts";
import { createKeyring, localMasterKey } from "../../src/storage/keyring.ts";
import { createPayloadSealer } from "../../src/storage/payload-sealer.ts";
import { FAILURE_CONVERTER_PATH, createDataConverter } from "../../src/temporal/codec.ts";
import { lazyClient } from "../../src/temporal/connection.ts";
import { registerSearchAttributes } from "../../src/temporal/search-attributes.ts";
import { eagerClient } from "../../src/temporal/start-chat.ts";
import { TEST_PEPPER, makeKey, makeOrganization, makeSpace, makeUser } from "./callers.ts";
import { type TestDatabase, createTestDatabase } from "./database.ts";
import { type ScriptedProvider, startScriptedProvider } from "./scripted-provider.ts";

const WORKFLOWS = fileURLToPath(new URL("../../src/workflows/index.ts", import.meta.url));
const DIMENSIONS = 64;
const TOOL_TIMEOUT_MS = 1_500;

export interface ChatHarness {
  readonly url: string;
  readonly provider: ScriptedProvider;
  readonly database: TestDatabase;
  readonly host: ChatHost;
  readonly client: Client;
  readonly organization: OrganizationKey;
  readonly userId: string;
  readonly spaceId: string;
  /** The key of a user who owns the space. */
  readonly key: string;
  /** A new agent of the space. */
  addAgent(fields?: Record<string, unknown>): Promise<string>;
  /** `POST /v1/chat/completions`. */
  chat(body: Record<string, unknown>, init?: { signal?: AbortSignal; key?: string }): Promise<Response>;
  close(): Promise<void>;
}

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/** `temporalAddress` lets a test put something between this process and Temporal. */
export async function startChat(
  options: {
    withTools?: boolean;
    temporalAddress?: string;
    tools?: Partial<ToolSettings>;
    unreadMaxMs?: number;
    contextTokens?: number;
    budgets?: TokenBudgets;
    turnBudget?: TurnBudget;
    pingMs?: number;
    fallbacks?: readonly ChatFallback[];
    /** As where a workflow runs in a process that does not hold its turn, and whose tools fail. */
    isElsewhere?: boolean;
  } = {},
): Promise<ChatHarness> {
  // oxlint-disable-next-line node/no-process-env -- the set-up of the tests hands the server over in it
  const address = process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"];
  if (address === undefined) throw new Error("HOLDFAST_TEST_TEMPORAL_ADDRESS is not set");
  if (!Runtime["_instance"]) Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  bundle ??= bundleWorkflowCode({ workflowsPath: WORKFLOWS, failureConverterPath: FAILURE_CONVERTER_PATH, logger: new DefaultLogger("ERROR") });
  const [database, provider, connection] = await Promise.all([createTestDatabase(), startScriptedProvider({ dimensions: DIMENSIONS }), NativeConnection.connect({ address })]);
  const { db } = database;
  const log = createLog({ level: "warn", name: "test" });
  const master = localMasterKey(Buffer.alloc(32, 9));
  const keyring = createKeyring({ master, load: (id) => listOrganizationKeys(db, id), create: (id, key) => insertFirstOrganizationKey(db, id, master.id, key) });
  const dataConverter = createDataConverter(createPayloadSealer(keyring, randomBytes(32)));
  const client = eagerClient(connection, "default", dataConverter);
  await registerSearchAttributes(client, "default");
  const models = {
    baseUrl: provider.url,
    apiKey: "sk-scripted",
    chatModel: "scripted-chat",
    embeddingModel: "scripted-embedding",
    embeddingDimensions: DIMENSIONS,
    chatFallbacks: options.fallbacks,
  };
  const queryEmbedding = cacheQueries(await createEmbeddingModel(models), { timeoutMs: 2_000 });
  const queues = { chat: `chat-${randomUUID()}`, tools: `tools-${randomUUID()}` };
  const probe = lazyClient({ address: options.temporalAddress ?? address, namespace: "default" }, dataConverter);
  const toolbox = createToolbox({ httpFetchHosts: [], mcpServers: {}, ...options.tools }, (error) => log.warn({ err: error }, "listing failed"));
  const host = await createChatHost({
    db,
    log,
    keyring,
    ...(options.unreadMaxMs === undefined ? {} : { unreadMaxMs: options.unreadMaxMs }),
    model: await createChatModel(models),
    search: { db, queryEmbedding },
    toolbox,
    contextTokens: options.contextTokens ?? 128_000,
    budgets: options.budgets ?? {},
    turnBudget: options.turnBudget,
    pingMs: options.pingMs,
    connect: () => NativeConnection.connect({ address: options.temporalAddress ?? address }),
    probe,
    namespace: "default",
    dataConverter,
    workerDataConverter: dataConverter,
    workflowBundle: async () => bundle!,
    createActivities(turns) {
      const here = {
        ...createChatActivities(turns),
        ...createToolActivities({ db, queryEmbedding, toolbox, toolTimeoutMs: TOOL_TIMEOUT_MS, abortedSignal: (turnId) => turns.abortedSignal(turnId) }),
      };
      return options.isElsewhere === true ? elsewhere(here) : here;
    },
    queues,
  });
  const tools =
    options.withTools === false
      ? undefined
      : await Worker.create({
          connection,
          taskQueue: queues.tools,
          dataConverter,
          activities: { ...createToolActivities({ db, queryEmbedding, toolbox, toolTimeoutMs: TOOL_TIMEOUT_MS }) },
        });
  const toolsRun = tools?.run();
  const audit = createAuditLog(db, log);
  const lastUsed = createLastUsed(db, log);
  const authenticator = createAuthenticator({ db, pepper: TEST_PEPPER, verifyJwt: undefined });
  const limits = { maxUploadBytes: 1_000, requestsPerMinute: 1_000_000, chatTurnsPerMinute: 1_000_000 };
  // What the routes under test use of the composition root.
  const callerCounts = createSharedCounter({ add: async () => [] });
  const deps = {
    config: { limits, api: { trustedProxies: 0, corsOrigins: [] } },
    callerCounts,
    db,
    log,
    authenticator,
    audit,
    lastUsed,
    queryEmbedding,
    chat: host,
  } as unknown as Deps;
  const listening = await listen(createApp(deps, [createChatCompletion, listModels]), { host: "127.0.0.1", port: 0 });
  const organization = await makeOrganization(db);
  const userId = await makeUser(db, organization);
  const spaceId = await makeSpace(db, organization, [[userId, "owner"]]);
  const { text: key } = await makeKey(db, organization, userId);
  await host.ready;
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    url,
    provider,
    database,
    host,
    client,
    organization,
    userId,
    spaceId,
    key,
    async addAgent(fields = {}) {
      const row: Record<string, unknown> = {
        id: newId(),
        organization_id: organization.id,
        space_id: spaceId,
        name: `Agent ${randomUUID()}`,
        created_by: userId,
        last_edited_by: userId,
        ...fields,
      };
      if (row["tool_attachments"] !== undefined) row["tool_attachments"] = JSON.stringify(row["tool_attachments"]);
      const columns = Object.keys(row);
      await db.owner.query(`insert into agents (${columns.join(", ")}) values (${columns.map((_, index) => `$${index + 1}`).join(", ")})`, Object.values(row));
      return String(row["id"]);
    },
    chat: (body, init = {}) =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${init.key ?? key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        ...(init.signal ? { signal: init.signal } : {}),
      }),
    async close() {
      await host.shutdown();
      tools?.shutdown();
      await toolsRun;
      await listening.close(100);
      await Promise.all([audit.close(), lastUsed.close(), provider.close()]);
      await probe.connection.close();
      await connection.close();
      await database.drop();
    },
  };
}

function elsewhere(activities: ChatActivities & ToolActivities): ChatActivities & ToolActivities {
  return {
    ...activities,
    callModel: async (input) => (Context.current().info.isLocal ? { type: "unknown" } : activities.callModel(input)),
    async runTool() {
      throw ApplicationFailure.create({ type: "database_unavailable", message: "The database is not reachable." });
    },
  };
}
