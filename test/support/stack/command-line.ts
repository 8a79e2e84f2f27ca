/** A database with one provisioned organization, the development issuer, and the environment of commands. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthenticator } from "../../../src/auth/authenticate.ts";
import { createJwtVerifier } from "../../../src/auth/jwt.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import { issuerSecret } from "../../../src/embedded/secret-file.ts";
import { freePort } from "../../../src/embedded/ports.ts";
import { issuerUrl, startIssuer } from "../../../src/embedded/servers/issuer-part.ts";
import { localMasterKey } from "../../../src/storage/keys/keyring.ts";
import { type TestDatabase, createTestDatabase } from "../servers/database.ts";
import { pepperOf } from "../tenants/callers.ts";
import { runCommand } from "./command.ts";

const MASTER = Buffer.alloc(32, 3);
/** The master key of the database. */
export const masterKey = localMasterKey(MASTER);

/** Acme: Ada is its admin with the key "made", Vic views its space Research. */
export const ACME_FILE = JSON.stringify({
  organizations: [
    {
      name: "Acme",
      users: [
        { email: "ada@acme.example", subject: "ada", role: "admin", api_keys: [{ name: "made" }] },
        { email: "vic@acme.example" },
      ],
      spaces: [{ name: "Research", members: { "ada@acme.example": "owner", "vic@acme.example": "viewer" } }],
    },
  ],
});

export interface CommandLine {
  readonly database: TestDatabase;
  readonly dataDir: string;
  readonly env: Record<string, string>;
  readonly issuerPort: number;
  readonly issuerSecret: string;
  /** The key "made" that provisioning printed. */
  readonly key: string;
  /** Authenticates a key or a token as the API does. */
  whoIs(credential: string): Promise<Principal>;
  close(): Promise<void>;
}

export async function startCommandLine(): Promise<CommandLine> {
  const [database, dataDir, issuerPort] = await Promise.all([
    createTestDatabase(),
    mkdtemp(join(tmpdir(), "holdfast-cli-")),
    freePort(),
  ]);
  const env = {
    ...database.env,
    DATABASE_OWNER_URL: database.url,
    MASTER_KEY: MASTER.toString("base64"),
    DATA_DIR: dataDir,
    NODE_ENV: "test",
  };
  const issuer = await startIssuer({ env, dataDir, port: issuerPort }, () => undefined);
  const file = join(dataDir, "tenants.yaml");
  await writeFile(file, ACME_FILE);
  const provisioned = JSON.parse(await runCommand(["provision", file, "--json"], env)) as {
    keys: { key: string }[];
  };
  return {
    database,
    dataDir,
    env,
    issuerPort,
    issuerSecret: await issuerSecret(dataDir),
    key: provisioned.keys[0]!.key,
    async whoIs(credential) {
      const authenticator = createAuthenticator({
        db: database.db,
        pepper: await pepperOf(database.db, masterKey),
        verifyJwt: createJwtVerifier({ issuer: issuerUrl(issuerPort), audience: "holdfast" }),
      });
      return authenticator.authenticate({
        authorization: `Bearer ${credential}`,
        organizationId: undefined,
        address: "127.0.0.1",
      });
    },
    async close() {
      await issuer.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
