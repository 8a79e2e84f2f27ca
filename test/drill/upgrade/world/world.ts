/**
 * Starts what both versions share in the upgrade drill: Postgres, Temporal, an object store, a model provider
 * and an issuer of access tokens.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";
import { startParts } from "../../../support/run/global-setup.ts";
import { type TestIssuer, startIssuer } from "../../../support/servers/issuer.ts";
import { type ScriptedProvider, startScriptedProvider } from "../../../support/provider/scripted-provider.ts";

export interface World {
  readonly database: TestDatabase;
  readonly temporal: Client;
  readonly provider: ScriptedProvider;
  readonly issuer: TestIssuer;
  /** The folder for source trees, archives and other files that belong to neither version. */
  readonly folder: string;
  readonly dataDir: string;
  /** The settings of all processes of both versions; each process adds its port. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const DIMENSIONS = "64";
/** More than a drill sends to the provider: at the end the requests are counted to find what chats cost. */
const REQUESTS_KEPT = 20_000;
const UNLIMITED = "1000000";

/** Opens the world with an empty database, which the version before migrates. */
export async function openWorld(folder: string): Promise<World> {
  const [parts, provider, issuer, dataDir] = await Promise.all([
    startParts({ isDurable: false }),
    startScriptedProvider({ keepRequests: REQUESTS_KEPT }),
    startIssuer(),
    mkdtemp(join(tmpdir(), "holdfast-upgrade-data-")),
  ]);
  const [database, temporal] = await Promise.all([
    createTestDatabase({ isEmpty: true }),
    parts.startTemporal(),
  ]);
  const { address } = temporal;
  const connection = await Connection.connect({ address });
  return {
    database,
    temporal: new Client({ connection }),
    provider,
    issuer,
    folder,
    dataDir,
    env: {
      NODE_ENV: "test",
      DATA_DIR: dataDir,
      ...database.env,
      DATABASE_OWNER_URL: database.url,
      REQUIRE_DATABASE_LOGINS: "true",
      DATABASE_POOL_SIZE: "10",
      TEMPORAL_ADDRESS: address,
      MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
      LOG_LEVEL: "warn",
      RATE_LIMIT_RPM: UNLIMITED,
      CHAT_RATE_LIMIT_RPM: UNLIMITED,
      REFUSAL_RATE_LIMIT_RPM: UNLIMITED,
      OPENAI_BASE_URL: provider.url,
      OPENAI_API_KEY: "sk-scripted",
      EMBEDDING_MODEL: "scripted-embedding",
      EMBEDDING_DIMENSIONS: DIMENSIONS,
      CHAT_MODEL: "scripted-chat",
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: issuer.audience,
    },
    async close() {
      await connection.close();
      await Promise.all([provider.close(), issuer.close(), database.drop()]);
      await temporal.stop();
      await parts.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
