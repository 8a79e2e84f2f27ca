/** Checks of Postgres: its version, the schema, its logins' rights, the instance's secrets, its clock. */
import type { Config } from "../../config/config.ts";
import { tryInstanceSecrets } from "../../db/instance/secrets.ts";
import { findStrongLogins } from "../../db/instance/logins.ts";
import { listFaults } from "../../db/access/access.ts";
import { compareMigrations, describeAccessFaults } from "../../db/migrate.ts";
import type { Database } from "../../db/pool.ts";
import { clockAhead, readServerFacts, tryLogins } from "../../db/instance/server-facts.ts";
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import { type Check, type Finding, fail, ok, warn } from "./check.ts";
import { reasonOf } from "./reason.ts";

const MIN_POSTGRES = 160_000;
const MIN_PGVECTOR = [0, 8];
const CLOCK_WARNS_SECONDS = 5;
const SHOWN = 3;

export interface PostgresParts {
  readonly config: Config;
  /** @throws CommandError if none is configured */
  readonly db: () => Promise<Database>;
  /** @throws CommandError if none is configured */
  readonly masterKey: () => Promise<MasterKey>;
}

const REACH = "start Postgres, or correct DATABASE_URL and its password; `npm start` runs its own";
const MIGRATE = "run `holdfast migrate` (as DATABASE_OWNER_URL)";

export function postgresChecks(parts: PostgresParts): Check[] {
  const shared = { remedy: REACH, needs: "Postgres" };
  return [
    { name: "Postgres", remedy: REACH, run: () => version(parts) },
    { ...shared, name: "pgvector", run: () => pgvector(parts) },
    { ...shared, name: "migrations", run: () => migrations(parts) },
    { ...shared, name: "policies", run: () => policies(parts) },
    { ...shared, name: "database logins", run: () => logins(parts) },
    {
      name: "master key",
      needs: "Postgres",
      remedy:
        "set MASTER_KEY or KMS_KEY_NAME as for the running service; " +
        "after a restore, use the key of the backed-up service",
      run: () => masterKey(parts),
    },
    {
      ...shared,
      name: "clock of Postgres",
      run: async () => clock(await clockAhead(await parts.db()), "Postgres"),
    },
  ];
}

async function version({ db }: PostgresParts): Promise<Finding> {
  const { version: text, versionNumber } = await readServerFacts(await db());
  return versionNumber >= MIN_POSTGRES
    ? ok(text)
    : fail(`${text} is older than 16`, "upgrade to Postgres 16 or newer");
}

async function pgvector({ db }: PostgresParts): Promise<Finding> {
  const { pgvector: text } = await readServerFacts(await db());
  if (text === null)
    return fail(
      "the extension is not installed in this database",
      `install pgvector 0.8 or newer on the server, then ${MIGRATE}`,
    );
  const [major = 0, minor = 0] = text.split(".").map(Number);
  const isNew = major > MIN_PGVECTOR[0]! || (major === MIN_PGVECTOR[0] && minor >= MIN_PGVECTOR[1]!);
  return isNew
    ? ok(text)
    : fail(
        `${text} is older than 0.8`,
        "install a newer pgvector, then as the owner: alter extension vector update",
      );
}

async function migrations({ db }: PostgresParts): Promise<Finding> {
  const compared = await compareMigrations(await db());
  if (compared === undefined) return fail("this login has no permission to list them", MIGRATE);
  const { missing, newer } = compared;
  if (missing.length > 0) return fail(`the database lacks ${named(missing)}`, MIGRATE);
  if (newer.length > 0)
    return warn(
      `a newer version has migrated this database (${named(newer)})`,
      "use the commands of that version",
    );
  return ok("up to date");
}

/** The same checks that processes make when they start. */
async function policies({ db }: PostgresParts): Promise<Finding> {
  const faults = await describeAccessFaults(await db());
  return faults.length === 0
    ? ok("roles, policies and grants match this version")
    : fail(listFaults(faults), MIGRATE);
}

async function logins({ config, db }: PostgresParts): Promise<Finding> {
  const opened = await db();
  const { names, refused } = await tryLogins(opened);
  if (refused.length > 0)
    return fail(
      refused.map(({ name, error }) => `${name} is refused: ${reasonOf(error)}`).join("; "),
      "correct the password of that URL, or run `holdfast migrate --create-logins`",
    );
  const isEmbedded = config.database.url === undefined;
  const strong = await findStrongLogins(
    opened,
    isEmbedded ? { maintenanceUrl: "embedded" } : config.database,
  );
  if (strong === undefined) return ok(`${names.join(", ")}: each may do what its role may and no more`);
  const state = config.database.requiresLogins ? fail : warn;
  return state(
    listFaults(strong.faults),
    "the log of a process's start has the statements; docs/operations.md, Database logins",
  );
}

async function masterKey({ db, masterKey: open }: PostgresParts): Promise<Finding> {
  const master = await open();
  const { opened, closed } = await tryInstanceSecrets(await db(), master);
  if (closed.length > 0)
    return fail(
      `it cannot decrypt the instance's secrets (${named(closed)})`,
      "set MASTER_KEY to the key that this database was used with, or set MASTER_KEY_PREVIOUS to " +
        "the older one",
    );
  return ok(
    opened.length === 0
      ? "there are no secrets yet; the first start creates them"
      : `decrypts ${opened.length} of the instance's secrets`,
  );
}

/** @param ahead in seconds. */
export function clock(ahead: number, whose: string): Finding {
  const seconds = Math.abs(ahead);
  const shown = `${seconds.toFixed(1)} s ${ahead < 0 ? "behind" : "ahead of"} this machine`;
  if (seconds <= CLOCK_WARNS_SECONDS) return ok(shown);
  return warn(
    shown,
    `synchronize both clocks with NTP or chrony: leases, expiries and tokens depend on them (${whose})`,
  );
}

function named(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return `${names.slice(0, SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
