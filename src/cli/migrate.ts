/** `holdfast migrate` */
import type { Command } from "commander";
import { storeCutOver } from "../db/cut-overs.ts";
import { migrate } from "../db/migrate.ts";
import { BOUND_PAYLOADS } from "../temporal/seals/cut-over.ts";
import { type Connection, withDatabase } from "./connect.ts";
import { printJson, printLine } from "./output.ts";

export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("bring the database's schema up to date")
    .option("--alone", "no other process of the service runs, so that what an older version could not read may be written from now on")
    .option("--json", "print JSON")
    .action(async ({ alone, json }: { alone?: boolean; json?: boolean }) => {
      const work = async ({ db }: Connection): Promise<string[]> => {
        const applied = await migrate(db);
        if (alone === true) await storeCutOver(db, BOUND_PAYLOADS);
        return applied;
      };
      const applied = await withDatabase(work, { mayLackMigrations: true });
      if (json) printJson({ applied });
      else printLine(applied.length === 0 ? "the database is up to date" : `applied ${applied.join(", ")}`);
    });
}
