/** `holdfast migrate` */
import type { Command } from "commander";
import type { Config } from "../config.ts";
import { makeLogins } from "../db/logins.ts";
import { migrate } from "../db/migrate.ts";
import type { OwnerDatabase } from "../db/pool.ts";
import { withOwner } from "./connect.ts";
import { CommandError, printJson, printLine } from "./output.ts";

interface Options {
  readonly createLogins?: boolean;
  readonly json?: boolean;
}

export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("bring the database's schema up to date, as DATABASE_OWNER_URL")
    .option("--create-logins", "and let the users of DATABASE_URL, DATABASE_SYSTEM_URL and DATABASE_MAINTENANCE_URL log in with the passwords that these have")
    .option("--json", "print JSON")
    .action(async ({ createLogins = false, json }: Options) => {
      const { applied, logins } = await withOwner(async (db, config) => ({ applied: await migrate(db), logins: createLogins ? await createFrom(db, config) : [] }));
      if (json) return printJson({ applied, ...(createLogins ? { logins } : {}) });
      printLine(applied.length === 0 ? "the database is up to date" : `applied ${applied.join(", ")}`);
      if (logins.length > 0) printLine(`may log in: ${logins.join(", ")}`);
    });
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
