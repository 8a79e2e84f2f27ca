/** Opens the parts that every process shares from its settings, and closes them in reverse. */
import { hkdfSync } from "node:crypto";
import type { Client } from "@temporalio/client";
import type { DataConverter } from "@temporalio/worker";
import { type Toolbox, createToolbox } from "./agents/tools/index.ts";
import { ConfigError, type RealConfig, unknownSettings } from "./config/config.ts";
import { insertFirstOrganizationKey, listOrganizationKeys } from "./db/encryption/keys.ts";
import { describeStrongLogins } from "./db/instance/logins.ts";
import { loadInstanceSecret } from "./db/instance/secrets.ts";
import { assertSchema } from "./db/migrate.ts";
import { type Database, openDatabase } from "./db/pool.ts";
import type { MasterKey } from "./domain/tenancy/wrapped-keys.ts";
import { type Dispatcher, createDispatcher } from "./dispatch/dispatcher.ts";
import { type EmbeddingModel, createEmbeddingModel } from "./models/embedding/embedding-model.ts";
import { type Reranker, createReranker } from "./models/rerank/reranker.ts";
import { type Log, createLog } from "./process/log.ts";
import { type DiskSpace, watchDisk } from "./storage/disk-space.ts";
import { type Keyring, createKeyring } from "./storage/keys/keyring.ts";
import { openMasterKey } from "./storage/keys/master-key.ts";
import { createPayloadSealer, sealerForWorkers } from "./storage/keys/payload-sealer.ts";
import { type ObjectStore, UnfitStoreError } from "./storage/object-store.ts";
import { openObjectStore, writtenFolders } from "./storage/open-store.ts";
import { type Storage, createStorage } from "./storage/storage.ts";
import { createDataConverter, createWorkerDataConverter } from "./temporal/codec.ts";
import { lazyClient } from "./temporal/connection.ts";
import { type WorkerHooks, createWorkerHooks } from "./temporal/hooks.ts";

export interface SharedDeps {
  readonly config: RealConfig;
  readonly log: Log;
  readonly db: Database;
  readonly masterKey: MasterKey;
  readonly keyring: Keyring;
  /** Encrypts what it keeps in `store`, with the key of the organization. */
  readonly storage: Storage;
  /** Keeps bytes as they are, for objects that belong to no organization. */
  readonly store: ObjectStore;
  readonly disk: DiskSpace;
  readonly embedding: EmbeddingModel;
  /** Undefined: hits stay in the order of their scores. */
  readonly reranker: Reranker | undefined;
  /** For clients: throws an outage if keys cannot be read. */
  readonly dataConverter: DataConverter;
  /** For workers: waits until keys can be read. */
  readonly workerDataConverter: DataConverter;
  readonly workerHooks: WorkerHooks;
  readonly temporal: Client;
  readonly dispatcher: Dispatcher;
  readonly toolbox: Toolbox;
  /** 32 bytes that key the organization's embedding cache, also after its encryption key is rotated. */
  contentSecret(organizationId: string): Promise<Buffer>;
  close(): Promise<void>;
}

const SECRET_BYTES = 32;

/**
 * Opens what all processes share. Needs Postgres, because the instance's secrets are in it; Temporal and the
 * object store are not reached before they are first used.
 * @param name of the process, as its log lines have it.
 * @throws DomainError `database_unavailable`; ExpectedFailure if the schema is not that of this version;
 *   ConfigError if narrow database logins are required and one is too strong, or if the object store cannot
 *   be used; and any error of a model provider that is asked for the dimensions of its embeddings.
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
  const embedding = await createEmbeddingModel(config.models);
  const payloads = await openPayloads({ db, log, masterKey, keyring });
  const temporal = lazyClient(config.temporal, payloads.dataConverter);
  const dispatcher = createDispatcher({ db, client: temporal, log });
  return {
    config,
    log,
    db,
    masterKey,
    keyring,
    storage: createStorage({ store, keyring, assertRoom: () => disk.assertRoom() }),
    store,
    disk,
    embedding,
    reranker: config.rerank === undefined ? undefined : createReranker(config.rerank),
    ...payloads,
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

/** Makes what encrypts payloads on their way to Temporal and looks at those that come back. */
async function openPayloads({
  db,
  log,
  masterKey,
  keyring,
}: Pick<SharedDeps, "db" | "log" | "masterKey" | "keyring">): Promise<
  Pick<SharedDeps, "dataConverter" | "workerDataConverter" | "workerHooks">
> {
  const sealer = createPayloadSealer(keyring, await loadInstanceSecret(db, "temporal-payloads", masterKey));
  return {
    dataConverter: createDataConverter(sealer),
    workerDataConverter: createWorkerDataConverter(sealerForWorkers(sealer)),
    workerHooks: createWorkerHooks(log),
  };
}

/** Ends the start if the schema is of another version: tables may lack their row-level policies. */
async function assertUsable(db: Database, config: RealConfig, log: Log): Promise<void> {
  try {
    await assertSchema(db);
    await checkLogins(db, config, log);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** A login with more rights than needed ends the start if narrow logins are required, else warns. */
async function checkLogins(db: Database, { database }: RealConfig, log: Log): Promise<void> {
  const found = await describeStrongLogins(db, database);
  if (found === undefined) return;
  if (!database.requiresLogins) return log.warn(found);
  throw new ConfigError([
    `Narrow logins are required: in production, unless REQUIRE_DATABASE_LOGINS=false puts it off. ${found}`,
  ]);
}

/** A store that breaks its promises ends the start; one out of reach is asked at the first write. */
async function proveStore(store: ObjectStore, log: Log): Promise<void> {
  try {
    await store.prove?.();
  } catch (error) {
    if (error instanceof UnfitStoreError) throw new ConfigError([error.message]);
    log.warn({ err: error }, "the object store could not be probed");
  }
}

function openKeyring(db: Database, master: MasterKey): Keyring {
  return createKeyring({
    master,
    load: (organizationId) => listOrganizationKeys(db, organizationId),
    create: (organizationId, key) => insertFirstOrganizationKey(db, organizationId, master.id, key),
  });
}
