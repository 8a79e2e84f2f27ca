/** The composition root: settings in, the parts that every process shares out; closes them in reverse. */
import { hkdfSync } from "node:crypto";
import type { Client } from "@temporalio/client";
import type { DataConverter } from "@temporalio/worker";
import { type AuditLog, createAuditLog } from "./auth/audit-log.ts";
import { type Authenticator, createAuthenticator } from "./auth/authenticate.ts";
import { createJwtVerifier } from "./auth/jwt.ts";
import { type LastUsed, createLastUsed } from "./auth/last-used.ts";
import { type LeakedKeys, createLeakedKeys } from "./auth/leaked-keys.ts";
import { ConfigError, type RealConfig, unknownSettings } from "./config/config.ts";
import { createChatActivities } from "./activities/chat.ts";
import { createToolActivities } from "./activities/tools.ts";
import { type Readiness, createReadiness } from "./api/readiness.ts";
import { type Toolbox, createToolbox } from "./agents/tools/index.ts";
import { type SharedCounter, createSharedCounter } from "./api/limits/shared-counter.ts";
import { type ChatHost, type ChatHostDeps, createChatHost } from "./api/turns/chat-host.ts";
import { createChatModel } from "./models/chat/chat-model.ts";
import { ambiguousLogins } from "./telemetry/instruments.ts";
import { QUEUES } from "./domain/work/queues.ts";
import { workflowBundle } from "./worker/bundle.ts";
import { findCutOver } from "./db/instance/cut-overs.ts";
import { loadInstanceSecret } from "./db/instance/secrets.ts";
import { describeStrongLogins } from "./db/instance/logins.ts";
import { assertSchema } from "./db/migrate.ts";
import { insertFirstOrganizationKey, listOrganizationKeys } from "./db/encryption/keys.ts";
import { addCallerCounts } from "./db/instance/rate-limits.ts";
import { type Database, openDatabase, queryOnce } from "./db/pool.ts";
import { type Dispatcher, createDispatcher } from "./dispatch/dispatcher.ts";
import { type Log, createLog } from "./process/log.ts";
import {
  type EmbeddingModel,
  createEmbeddingModel,
  openEmbeddingModel,
} from "./models/embedding/embedding-model.ts";
import { type QueryEmbeddings, cacheQueries } from "./models/embedding/queries.ts";
import { type Reranker, createReranker } from "./models/rerank/reranker.ts";
import { type DiskSpace, watchDisk } from "./storage/disk-space.ts";
import { type Keyring, type MasterKey, createKeyring } from "./storage/keys/keyring.ts";
import { openMasterKey } from "./storage/keys/master-key.ts";
import { createPayloadSealer, outlastingOutages, sealerForWorkers } from "./storage/keys/payload-sealer.ts";
import { type ObjectStore, UnfitStoreError } from "./storage/object-store.ts";
import { openObjectStore, storeKind, writtenFolders } from "./storage/open-store.ts";
import { type Storage, createStorage } from "./storage/storage.ts";
import { createDataConverter, createWorkerDataConverter } from "./temporal/codec.ts";
import { BOUND_PAYLOADS, createCutOver } from "./temporal/seals/cut-over.ts";
import { type WorkerHooks, createWorkerHooks } from "./temporal/hooks.ts";
import { connectWorkers, lazyClient } from "./temporal/connection.ts";
import { pingTemporal } from "./temporal/start/chat.ts";

export interface SharedDeps {
  readonly config: RealConfig;
  readonly log: Log;
  readonly db: Database;
  readonly masterKey: MasterKey;
  readonly keyring: Keyring;
  readonly storage: Storage;
  /** Below `storage`, unencrypted: for what belongs to no organization. */
  readonly store: ObjectStore;
  readonly disk: DiskSpace;
  readonly embedding: EmbeddingModel;
  /** Undefined: hits stay in the order of their scores. */
  readonly reranker: Reranker | undefined;
  /** For clients: throws an outage where keys cannot be read. */
  readonly dataConverter: DataConverter;
  /** For workers: waits until keys can be read. */
  readonly workerDataConverter: DataConverter;
  readonly workerHooks: WorkerHooks;
  readonly temporal: Client;
  readonly dispatcher: Dispatcher;
  readonly toolbox: Toolbox;
  /** 32 bytes that key the organization's embedding cache; they do not change when its encryption key is rotated. */
  contentSecret(organizationId: string): Promise<Buffer>;
  close(): Promise<void>;
}

const SECRET_BYTES = 32;
/** A search that waits longer for its query's vector goes on without one. */
const QUERY_EMBEDDING_TIMEOUT_MS = 2_000;

/**
 * Opens what all processes share. Needs Postgres, because the instance's secrets are in it; Temporal and the object store are
 * reached when first used.
 * @throws DomainError `database_unavailable`, ExpectedFailure where the schema lacks something of this version, ConfigError where database logins are required and one is too strong or where the object store cannot be used, and whatever a model provider that must be asked for its dimensions answers.
 */
export async function openSharedDeps(config: RealConfig, name: string): Promise<SharedDeps> {
  const log = createLog({ level: config.log.level, name });
  for (const unknown of unknownSettings()) log.warn(unknown);
  const store = await openObjectStore(config.storage);
  await proveStore(store, log);
  const db = openDatabase({
    ...config.database,
    onIdleError: (error) => log.warn({ err: error }, "an idle database connection was lost"),
  });
  await assertUsable(db, config, log);
  const masterKey = await openMasterKey(config.keys);
  const contentSecret = await loadInstanceSecret(db, "content-hash", masterKey);
  const keyring = openKeyring(db, masterKey);
  const disk = watchDisk({ ...config.disk, folders: writtenFolders(config.dataDir, config.storage) });
  const storage = createStorage({ store, keyring, assertRoom: () => disk.assertRoom() });
  const embedding = await createEmbeddingModel(config.models);
  const sealer = createPayloadSealer(keyring, await loadInstanceSecret(db, "temporal-payloads", masterKey));
  const readCutOver = (): Promise<Date | null> => findCutOver(db.system, BOUND_PAYLOADS);
  const dataConverter = createDataConverter({ sealer, cutOver: createCutOver(readCutOver) });
  const workerCutOver = createCutOver(() => outlastingOutages(readCutOver));
  const temporal = lazyClient(config.temporal, dataConverter);
  const dispatcher = createDispatcher({ db, client: temporal, log });
  return {
    config,
    log,
    db,
    masterKey,
    keyring,
    storage,
    store,
    disk,
    embedding,
    reranker: config.rerank === undefined ? undefined : createReranker(config.rerank),
    dataConverter,
    workerDataConverter: createWorkerDataConverter({
      sealer: sealerForWorkers(sealer),
      cutOver: workerCutOver,
    }),
    workerHooks: createWorkerHooks(workerCutOver, (refused) => log.warn(refused, "refused payload")),
    temporal,
    dispatcher,
    toolbox: createToolbox(config.tools, (error, server) =>
      log.warn({ err: error, server }, "the tools of an MCP server could not be listed"),
    ),
    contentSecret: async (organizationId) =>
      Buffer.from(hkdfSync("sha256", contentSecret, organizationId, "holdfast content hash", SECRET_BYTES)),
    async close() {
      await dispatcher.idle();
      await embedding.close();
      await temporal.connection.close();
      await db.close();
    },
  };
}

/** Ends the start where the schema is not what this version needs: serving without a policy would show one organization what is another's. */
async function assertUsable(db: Database, config: RealConfig, log: Log): Promise<void> {
  try {
    await assertSchema(db);
    await checkLogins(db, config, log);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** The end of the start in production, and where the settings ask for narrow logins; else a warning. */
async function checkLogins(db: Database, { database }: RealConfig, log: Log): Promise<void> {
  const found = await describeStrongLogins(db, database);
  if (found === undefined) return;
  if (!database.requiresLogins) return log.warn(found);
  throw new ConfigError([
    `Narrow logins are required: in production, unless REQUIRE_DATABASE_LOGINS=false puts it off. ${found}`,
  ]);
}

/** A store that cannot be used ends the start; one that is away does not: it is asked again before the first write. */
async function proveStore(store: ObjectStore, log: Log): Promise<void> {
  try {
    await store.prove?.();
  } catch (error) {
    if (error instanceof UnfitStoreError) throw new ConfigError([error.message]);
    log.warn({ err: error }, "the object store could not be asked whether it keeps its promises");
  }
}

function openKeyring(db: Database, master: MasterKey): Keyring {
  return createKeyring({
    master,
    load: (organizationId) => listOrganizationKeys(db, organizationId),
    create: (organizationId, key) => insertFirstOrganizationKey(db, organizationId, master.id, key),
  });
}

/** What the API process has besides: who callers are, and what their requests leave behind. */
export interface Deps extends SharedDeps {
  readonly authenticator: Authenticator;
  readonly audit: AuditLog;
  readonly lastUsed: LastUsed;
  readonly leakedKeys: LeakedKeys;
  readonly callerCounts: SharedCounter;
  readonly queryEmbedding: QueryEmbeddings;
  readonly chat: ChatHost;
  readonly readiness: Readiness;
}

/** For tests: what one of them has in the place of the usual part. */
interface Overrides {
  /** Is given the usual parts of chat, and answers with those to use. */
  readonly chat?: (usual: ChatHostDeps) => ChatHostDeps;
}

/** @throws as {@link openSharedDeps} does. */
export async function openApiDeps(config: RealConfig, overrides: Overrides = {}): Promise<Deps> {
  const shared = await openSharedDeps(config, "api");
  const { db, log } = shared;
  const pepper = await loadInstanceSecret(db, "pepper", shared.masterKey);
  const audit = createAuditLog(db, log);
  const lastUsed = createLastUsed(db, log);
  const callerCounts = createSharedCounter({ add: (counts) => addCallerCounts(db, counts) });
  const queryEmbedding = cacheQueries(shared.embedding, {
    maxEntries: 10_000,
    timeoutMs: QUERY_EMBEDDING_TIMEOUT_MS,
    open: (model) => openEmbeddingModel(config.models, model),
  });
  const usual = await chatParts(shared, queryEmbedding);
  const chat = await createChatHost(overrides.chat?.(usual) ?? usual);
  const authenticator = createAuthenticator({
    db,
    pepper,
    verifyJwt: config.oidc === undefined ? undefined : createJwtVerifier(config.oidc),
    onAmbiguousLogin(userIds) {
      ambiguousLogins.inc();
      log.warn(
        { user_ids: userIds },
        "several users wait for a first login with the same verified e-mail address, so that none is bound: name the subject of one of them",
      );
    },
  });
  const leakedKeys = createLeakedKeys({
    db,
    pepper,
    log,
    onRevoked: (userId) => authenticator.forgetUser(userId),
  });
  return {
    ...shared,
    authenticator,
    audit,
    lastUsed,
    leakedKeys,
    callerCounts,
    queryEmbedding,
    chat,
    readiness: createReadiness({
      probes: {
        database: () => queryOnce(db.system, "select 1"),
        workflows: () => pingTemporal(shared.temporal),
        object_store: () => shared.storage.list("", { limit: 1 }),
        disk: () => shared.disk.assertRoom(),
      },
      storeKind: storeKind(config.storage),
      started: chat.ready,
    }),
    async close() {
      await chat.shutdown();
      await callerCounts.close();
      await queryEmbedding.close();
      await leakedKeys.close();
      await lastUsed.close();
      await audit.close();
      await shared.close();
    },
  };
}

/** Turns are refused until chat's workers have connected to Temporal; it goes on trying. */
async function chatParts(shared: SharedDeps, queryEmbedding: QueryEmbeddings): Promise<ChatHostDeps> {
  const {
    config,
    db,
    log,
    dataConverter,
    workerDataConverter,
    workerHooks,
    temporal,
    toolbox,
    keyring,
    reranker,
  } = shared;
  return {
    db,
    log,
    keyring,
    model: await createChatModel(config.models),
    search: { db, queryEmbedding, reranker },
    toolbox,
    ...config.chat,
    connect: (signal) => connectWorkers(config.temporal, signal, log),
    probe: temporal,
    namespace: config.temporal.namespace,
    dataConverter,
    workerDataConverter,
    workerHooks,
    workflowBundle,
    createActivities: (turns) => ({
      ...createChatActivities(turns),
      ...createToolActivities({
        db,
        queryEmbedding,
        reranker,
        toolbox,
        abortedSignal: (turnId) => turns.abortedSignal(turnId),
      }),
    }),
    queues: { chat: QUEUES.chat, tools: QUEUES.tools },
  };
}
