/** Opens what the API process needs besides the shared parts: its callers, and its chat turns. */
import { createChatActivities } from "../activities/chat.ts";
import { createToolActivities } from "../activities/tools.ts";
import { createSecondLook } from "../agents/quotes/second-look.ts";
import { PEPPER } from "../auth/api-keys.ts";
import { type AuditLog, createAuditLog } from "../auth/audit-log.ts";
import { type Authenticator, createAuthenticator } from "../auth/authenticate.ts";
import { createJwtVerifier } from "../auth/jwt.ts";
import { type LastUsed, createLastUsed } from "../auth/last-used.ts";
import { type LeakedKeys, createLeakedKeys } from "../auth/leaked-keys.ts";
import type { RealConfig } from "../config/config.ts";
import { AUDIT_CHAIN_SECRET } from "../db/audit/chain.ts";
import { addCallerCounts } from "../db/instance/rate-limits.ts";
import { loadInstanceSecret } from "../db/instance/secrets.ts";
import { queryOnce } from "../db/pool.ts";
import { adoptWaitingTurns } from "../db/turns/adoption.ts";
import { readStates } from "../db/runs/states.ts";
import { type SharedDeps, openSharedDeps } from "../deps.ts";
import { QUEUES } from "../domain/work/queues.ts";
import type { ReceiptSigner } from "../domain/receipts/statement.ts";
import { createChatModel } from "../models/chat/chat-model.ts";
import { LOCAL_MODEL, openEmbeddingModel } from "../models/embedding/embedding-model.ts";
import { type MergingEmbeddingModel, mergeEmbeddings } from "../models/embedding/merge.ts";
import { type QueryEmbeddings, cacheQueries } from "../models/embedding/queries.ts";
import { createReceiptSigner } from "../receipts/signer.ts";
import { analyze, analyzeQuery } from "../search/text/analyzer.ts";
import { openTemporaryFolder } from "../process/temporary-folder.ts";
import { serviceVersion } from "../process/version.ts";
import { storeKind } from "../storage/open-store.ts";
import { ambiguousLogins } from "../telemetry/instruments.ts";
import { connectWorkers } from "../temporal/connection.ts";
import { pingTemporal } from "../temporal/start/chat.ts";
import { workflowBundle } from "../temporal/workflow-bundle.ts";
import { type SharedCounter, createSharedCounter } from "./limits/shared-counter.ts";
import { createEventHost, type EventHost } from "./events/host.ts";
import { createFileSeats, type FileSeats } from "./files/file-seats.ts";
import { createPageHost, type PageHost } from "./pages/page-host.ts";
import { createOperationsHost, type OperationsHost } from "./operations/operations-host.ts";
import { createMcpHost, type McpHost } from "./mcp/host.ts";
import { type Readiness, createReadiness } from "./readiness.ts";
import { createSealing } from "./openai/responses/kept/sealing.ts";
import type { ResponsesDeps } from "./openai/responses/deps.ts";
import { createResponsesHost, type ResponsesHost } from "./openai/responses/responses-host.ts";
import { createStateWatch, type StateWatch } from "./waits/state-watch.ts";
import { type ChatHost, type ChatHostDeps, createChatHost } from "./turns/chat-host.ts";

interface ApiParts {
  readonly authenticator: Authenticator;
  readonly audit: AuditLog;
  /** Keys the hashes of the audit log, 32 bytes. */
  readonly auditChainSecret: Uint8Array;
  readonly lastUsed: LastUsed;
  readonly leakedKeys: LeakedKeys;
  readonly callerCounts: SharedCounter;
  readonly queryEmbedding: QueryEmbeddings;
  /** Embeds texts for callers, in turn between organizations. */
  readonly textEmbedding: MergingEmbeddingModel;
  readonly chat: ChatHost;
  readonly responses: ResponsesHost;
  readonly receipts: ReceiptSigner;
  readonly events: EventHost;
  readonly states: StateWatch;
  readonly pages: PageHost;
  readonly fileSeats: FileSeats;
  readonly readiness: Readiness;
  readonly operations: OperationsHost;
  readonly mcp: McpHost;
}

export interface Deps extends SharedDeps, ApiParts {}

/** Parts that a test gives in place of the usual ones, by name; the process closes them as its own. */
export interface ApiOverrides extends Partial<
  Omit<
    ApiParts,
    | "chat"
    | "responses"
    | "textEmbedding"
    | "receipts"
    | "pages"
    | "fileSeats"
    | "readiness"
    | "auditChainSecret"
  >
> {
  /** Gets the usual parts of chat, and returns those to use: chat has many, and a test replaces a few. */
  readonly chat?: (usual: ChatHostDeps) => ChatHostDeps;
}

/** A search that waits longer for the vector of its query goes on without one. */
const QUERY_EMBEDDING_TIMEOUT_MS = 2_000;

/**
 * Opens the shared parts and those of the API. Chat refuses turns until it has connected to Temporal, and
 * goes on trying.
 * @throws as {@link openSharedDeps} does.
 * @example await openApiDeps(config, { callerCounts: createSharedCounter({ add: async () => [] }) })
 */
export async function openApiDeps(config: RealConfig, overrides: ApiOverrides = {}): Promise<Deps> {
  const shared = await openSharedDeps(config, "api");
  const { db, log } = shared;
  const { pepper, auditChainSecret } = await loadSecrets(shared);
  const audit = overrides.audit ?? createAuditLog(db, log);
  const lastUsed = overrides.lastUsed ?? createLastUsed(db, log);
  const callerCounts = overrides.callerCounts ?? openCallerCounts(shared);
  const queryEmbedding = overrides.queryEmbedding ?? openQueryEmbedding(shared);
  const receipts = createReceiptSigner(shared);
  const usual = await chatParts(shared, queryEmbedding, receipts);
  const chat = await createChatHost(overrides.chat?.(usual) ?? usual);
  const authenticator = overrides.authenticator ?? openAuthenticator(shared, pepper);
  const leakedKeys = overrides.leakedKeys ?? openLeakedKeys(shared, pepper, authenticator);
  const events = overrides.events ?? openEvents(shared, chat);
  const states = overrides.states ?? openStateWatch(shared);
  const temporary = await openTemporaryFolder(config.dataDir, (error) =>
    log.warn({ err: error }, error.message),
  );
  const fileSeats = createFileSeats();
  const pages = createPageHost({ ...shared, temporary, seats: fileSeats.pages });
  const responses = openResponses(shared, {
    chat,
    queryEmbedding,
    temporary,
    seats: fileSeats.inputFiles,
  });
  return {
    ...shared,
    authenticator,
    audit,
    auditChainSecret,
    lastUsed,
    leakedKeys,
    callerCounts,
    queryEmbedding,
    textEmbedding: mergeEmbeddings(shared.embedding),
    chat,
    receipts,
    events,
    states,
    pages,
    responses,
    fileSeats,
    readiness: openReadiness(shared, chat.ready),
    operations: createOperationsHost(shared),
    mcp: createMcpHost(await serviceVersion()),
    async close() {
      await Promise.all([events.hub.close(), states.close(), pages.close()]);
      responses.stop();
      await chat.shutdown();
      await responses.close();
      await callerCounts.close();
      await queryEmbedding.close();
      await leakedKeys.close();
      await lastUsed.close();
      await audit.close();
      await temporary.close();
      await shared.close();
    },
  };
}

async function loadSecrets({ db, masterKey }: SharedDeps) {
  const [pepper, auditChainSecret] = await Promise.all([
    loadInstanceSecret(db, PEPPER, masterKey),
    loadInstanceSecret(db, AUDIT_CHAIN_SECRET, masterKey),
  ]);
  return { pepper, auditChainSecret };
}

function openCallerCounts({ db }: SharedDeps): SharedCounter {
  return createSharedCounter({ add: (counts) => addCallerCounts(db, counts) });
}

function openLeakedKeys({ db, log }: SharedDeps, pepper: Buffer, authenticator: Authenticator): LeakedKeys {
  return createLeakedKeys({ db, pepper, log, onRevoked: (userId) => authenticator.forgetUser(userId) });
}

function openQueryEmbedding({ config, embedding }: SharedDeps): QueryEmbeddings {
  return cacheQueries(embedding, {
    timeoutMs: QUERY_EMBEDDING_TIMEOUT_MS,
    open: (model) => openEmbeddingModel(config.models, model),
  });
}

function openEvents({ config, db, log }: SharedDeps, { forgetAgents }: ChatHost): EventHost {
  return createEventHost({
    db,
    url: config.database.url,
    log,
    streamsPerProcess: config.api.eventStreams,
    forgetAgents,
  });
}

function openStateWatch({ db, log }: SharedDeps): StateWatch {
  return createStateWatch({
    readStates: (watched) => readStates(db.system, watched),
    onFailure: (error) =>
      log.warn({ err: error }, "the states that callers are waiting for could not be read"),
  });
}

function openAuthenticator({ config, db, log }: SharedDeps, pepper: Buffer): Authenticator {
  return createAuthenticator({
    db,
    pepper,
    verifyJwt: config.oidc === undefined ? undefined : createJwtVerifier(config.oidc),
    onAmbiguousLogin(userIds) {
      ambiguousLogins.inc();
      log.warn(
        { user_ids: userIds },
        "several users wait for a first login with the same verified e-mail address, so that none is " +
          "bound: name the subject of one of them",
      );
    },
  });
}

type ResponseParts = Pick<ResponsesDeps, "chat" | "queryEmbedding" | "temporary" | "seats">;

function openResponses(shared: SharedDeps, parts: ResponseParts): ResponsesHost {
  const { chat: settings } = shared.config;
  return createResponsesHost({
    ...shared,
    ...parts,
    sealing: createSealing(shared.keyring),
    keptHours: settings.responseRetentionHours,
    quotas: settings.responseQuotas,
    contextTokens: settings.contextTokens,
  });
}

function openReadiness(shared: SharedDeps, started: Promise<void>): Readiness {
  return createReadiness({
    probes: {
      database: () => queryOnce(shared.db.system, "select 1"),
      workflows: () => pingTemporal(shared.temporal),
      object_store: () => shared.storage.list("", { limit: 1 }),
      disk: () => shared.disk.assertRoom(),
    },
    storeKind: storeKind(shared.config.storage),
    started,
  });
}

async function chatParts(
  shared: SharedDeps,
  queryEmbedding: QueryEmbeddings,
  receipts: ReceiptSigner,
): Promise<ChatHostDeps> {
  const { config, db, log, toolbox, reranker } = shared;
  const search = { db, queryEmbedding, reranker };
  return {
    db,
    log,
    keyring: shared.keyring,
    model: await createChatModel(config.models, { analyze, analyzeQuery }),
    search,
    toolbox,
    receipts,
    // Never a provider's: a quote costs no call, and the text of an answer goes nowhere for it.
    secondLook: shared.embedding.name === LOCAL_MODEL ? createSecondLook(shared.embedding) : undefined,
    ...config.chat,
    connect: (signal) => connectWorkers(config.temporal, signal, log),
    probe: shared.temporal,
    namespace: config.temporal.namespace,
    dataConverter: shared.dataConverter,
    workerDataConverter: shared.workerDataConverter,
    workerHooks: shared.workerHooks,
    workflowBundle,
    createActivities: (turns) => ({
      ...createChatActivities(turns, (turnIds) => adoptWaitingTurns(db, turnIds)),
      ...createToolActivities({
        ...search,
        toolbox,
        isModelProvided: config.models.chatModel !== undefined,
        abortedSignal: (turnId) => turns.abortedSignal(turnId),
      }),
    }),
    queues: { chat: QUEUES.chat, tools: QUEUES.tools },
  };
}
