/** `holdfast migrate` */
import type { Command } from "commander";
import { migrate } from "../db/migrate.ts";
import { withDatabase } from "./connect.ts";
import { printJson, printLine } from "./output.ts";

export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("bring the database's schema up to date")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const applied = await withDatabase(({ db }) => migrate(db), { mayLackMigrations: true });
      if (json) printJson({ applied });
      else printLine(applied.length === 0 ? "the database is up to date" : `applied ${applied.join(", ")}`);
    });
}
