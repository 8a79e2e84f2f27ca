/** `holdfast backup create | restore | verify` */
import type { Command } from "commander";
import { createBackup, type Source } from "../../backup/create.ts";
import { restoreBackup } from "../../backup/restore.ts";
import { verify } from "./backup-verify.ts";
import { cacheDirs, serverUser } from "../../embedded/servers/server-user.ts";
import { openObjectStore } from "../../storage/open-store.ts";
import { withOwner } from "../connect.ts";
import { counted, printJson, printLine, wholeNumber } from "../output.ts";
import { type Progress, startProgress } from "../progress.ts";

const MOST_JOBS = 64;

export function addBackupCommand(program: Command): void {
  const backup = program
    .command("backup")
    .description("back up and restore the database and its objects; the master key is not included");
  backup
    .command("create")
    .description(
      "back up while the service is running, as DATABASE_OWNER_URL: a pg_dump, the objects, " +
        "and a manifest with counts and hashes",
    )
    .requiredOption(
      "--to <folder>",
      "a folder that does not exist yet; it appears once the backup is complete",
    )
    .option("--json", "print the manifest")
    .action(create);
  backup
    .command("restore")
    .description(
      "restore a backup into a database and an object store that have nothing of it, as " +
        "DATABASE_OWNER_URL, on a server that may never have seen Holdfast",
    )
    .requiredOption("--from <folder>", "the folder that `backup create` wrote")
    .option(
      "--jobs <number>",
      "tables to restore in parallel; if more than 1, a failed restore needs a new database",
      "1",
    )
    .option("--json", "print JSON")
    .action(restore);
  backup
    .command("verify")
    .description(
      "verify a restored database, its objects and the master key: open every key, read every file, " +
        "recompute every chain; exits with 1 if something is wrong",
    )
    .option("--organization <id>", "only this organization")
    .option("--manifest <file>", "the backup's manifest; fewer rows than it lists are an error")
    .option("--allow-empty", "accept a database without any organization")
    .option("--quick", "check that files exist, without reading them")
    .option("--json", "print JSON")
    .action(verify);
}

async function create({ to, json }: { readonly to: string; readonly json?: boolean }): Promise<void> {
  const manifest = await withSource(json, (source) => createBackup(source, to));
  if (json) return printJson(manifest);
  const { database, objects } = manifest;
  printLine(
    `${to}: ${counted(database.organizations.length, "organization")}, ` +
      `${counted(sum(Object.values(database.rows)), "row")}, ` +
      `${counted(objects.count, "object")} of ${counted(objects.bytes, "byte")}`,
  );
  printLine("Store the master key separately: you need both to read the data.");
}

async function restore({
  from,
  jobs,
  json,
}: {
  readonly from: string;
  readonly jobs: string;
  readonly json?: boolean;
}): Promise<void> {
  const atOnce = wholeNumber("--jobs", jobs, MOST_JOBS);
  const { manifest, applied } = await withSource(json, (target) =>
    restoreBackup(target, from, { jobs: atOnce }),
  );
  if (json)
    return printJson({
      made_at: manifest.made_at,
      rows: manifest.database.rows,
      objects: manifest.objects.count,
      applied,
    });
  printLine(
    `restored the backup of ${manifest.made_at}: ` +
      `${counted(sum(Object.values(manifest.database.rows)), "row")}, ` +
      counted(manifest.objects.count, "object"),
  );
  if (applied.length > 0) printLine(`applied ${applied.join(", ")}`);
  printLine(
    "Next, with the master key: holdfast migrate --create-logins, then holdfast backup verify " +
      `--manifest ${from}/manifest.json, then start the processes.`,
  );
}

async function withSource<T>(json: boolean | undefined, work: (source: Source) => Promise<T>): Promise<T> {
  const progress: Progress = startProgress("objects", { json });
  try {
    return await withOwner(async (db, config, url) =>
      work({
        db,
        url,
        store: await openObjectStore(config.storage),
        cacheDirs: cacheDirs({
          configured: config.cacheDir,
          dataDir: config.dataDir,
          user: await serverUser(),
        }),
        onObjects: (copied) => progress.show({ copied }),
        dataDir: config.dataDir,
        floorBytes: config.disk.floorBytes,
      }),
    );
  } finally {
    progress.stop();
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
