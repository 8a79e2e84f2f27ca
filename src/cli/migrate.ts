/** `holdfast migrate` */
import type { Command } from "commander";
import type { Config } from "../config.ts";
import { storeCutOver } from "../db/cut-overs.ts";
import { makeLogins } from "../db/logins.ts";
import { migrate } from "../db/migrate.ts";
import type { OwnerDatabase } from "../db/pool.ts";
import { BOUND_PAYLOADS } from "../temporal/seals/cut-over.ts";
import { withOwner } from "./connect.ts";
import { CommandError, printJson, printLine } from "./output.ts";

interface Options {
  readonly createLogins?: boolean;
  readonly alone?: boolean;
  readonly json?: boolean;
}

export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("bring the database's schema up to date, as DATABASE_OWNER_URL")
    .option(
      "--create-logins",
      "and let the users of DATABASE_URL, DATABASE_SYSTEM_URL and DATABASE_MAINTENANCE_URL log in with the passwords that these have; their own settings are reset",
    )
    .option("--alone", "no other process of the service runs, so that what an older version could not read may be written from now on")
    .option("--json", "print JSON")
    .action(async (options: Options) => {
      const { applied, logins } = await withOwner((db, config) => migrateAs(db, config, options));
      if (options.json) return printJson({ applied, ...(logins === null ? {} : { logins }) });
      printLine(applied.length === 0 ? "the database is up to date" : `applied ${applied.join(", ")}`);
      if (logins !== null) printLine(`may log in: ${logins.join(", ")}`);
    });
}

async function migrateAs(db: OwnerDatabase, config: Config, options: Options): Promise<{ applied: string[]; logins: string[] | null }> {
  const applied = await migrate(db);
  if (options.alone === true) await storeCutOver(db.owner, BOUND_PAYLOADS);
  return { applied, logins: options.createLogins === true ? await createFrom(db, config) : null };
}

async function createFrom(db: OwnerDatabase, { database: { url, systemUrl, maintenanceUrl } }: Config): Promise<string[]> {
  if (url === undefined || systemUrl === undefined || maintenanceUrl === undefined)
    throw new CommandError("--create-logins needs DATABASE_URL, DATABASE_SYSTEM_URL and DATABASE_MAINTENANCE_URL.");
  try {
    return await makeLogins(db, { app: url, system: systemUrl, maintenance: maintenanceUrl });
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(`${error.message}.`);
    throw error;
  }
}
