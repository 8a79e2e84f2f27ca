/** `holdfast migrate`: brings the schema, the roles and the rights of the database up to date. */
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { makeLogins } from "../../db/instance/logins.ts";
import { makeRoles } from "../../db/access/access.ts";
import { migrate, type Migrated } from "../../db/migrate.ts";
import { type OwnerDatabase, ROLES } from "../../db/pool.ts";
import { withOwner } from "../connect.ts";
import { CommandError, printJson, printLine } from "../output.ts";

interface Options {
  readonly createLogins?: boolean;
  readonly roles?: boolean;
  readonly json?: boolean;
}

export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description(
      "update the database schema and repair its roles, policies and grants, as DATABASE_OWNER_URL",
    )
    .option(
      "--create-logins",
      "also let the users of DATABASE_URL, DATABASE_SYSTEM_URL and DATABASE_MAINTENANCE_URL log in with " +
        "the passwords in these URLs; their role settings are reset",
    )
    .option("--roles", "only create the roles, before a restore on a server new to Holdfast")
    .option("--json", "print JSON")
    .action(async (options: Options) => {
      if (options.roles) return makeRolesAlone(options);
      const { applied, mended, logins } = await withOwner((db, config) => migrateAs(db, config, options));
      if (options.json) return printJson({ applied, mended, ...(logins === null ? {} : { logins }) });
      for (const fault of mended) printLine(`mended: ${fault}`);
      printLine(applied.length === 0 ? "the database is up to date" : `applied ${applied.join(", ")}`);
      if (logins !== null) printLine(`may log in: ${logins.join(", ")}`);
    });
}

/** Makes the roles before a restore by hand into a new server: policies and rights in the dump name them. */
async function makeRolesAlone({ createLogins, json }: Options): Promise<void> {
  if (createLogins)
    throw new CommandError("--roles only creates the roles; do not combine it with other options.");
  await withOwner((db) => makeRoles(db));
  const roles = Object.values(ROLES);
  if (json) printJson({ roles });
  else printLine(`there are ${roles.join(", ")}`);
}

async function migrateAs(
  db: OwnerDatabase,
  config: Config,
  options: Options,
): Promise<Migrated & { logins: string[] | null }> {
  const migrated = await migrate(db);
  return { ...migrated, logins: options.createLogins === true ? await createFrom(db, config) : null };
}

async function createFrom(
  db: OwnerDatabase,
  { database: { url, systemUrl, maintenanceUrl } }: Config,
): Promise<string[]> {
  if (url === undefined || systemUrl === undefined || maintenanceUrl === undefined)
    throw new CommandError(
      "--create-logins needs DATABASE_URL, DATABASE_SYSTEM_URL and DATABASE_MAINTENANCE_URL; for the " +
        "built-in Postgres of npm start, each start does it.",
    );
  try {
    return await makeLogins(db, { app: url, system: systemUrl, maintenance: maintenanceUrl });
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(`${error.message}.`);
    throw error;
  }
}
