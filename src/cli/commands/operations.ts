/** `holdfast keys …` and `holdfast organization delete`: requests the operation, waits for its report. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import {
  type Operation,
  findOperation,
  requestOrganizationDeletion,
  requestReencryption,
  requestRotation,
} from "../../db/outbox/operations.ts";
import type { Database } from "../../db/pool.ts";
import { type Connection, withDatabase } from "../connect.ts";
import { everyOrganization } from "../organizations.ts";
import { CommandError, printJson, printLine } from "../output.ts";
import { type Progress, startProgress } from "../progress.ts";

const POLL_MS = 250;
/** Other processes cache keys for 60 s and callers for 5 s after the organization was closed. */
const GRACE_SECONDS = 65;

export interface WaitOptions {
  readonly wait: boolean;
  readonly json?: boolean;
}

interface ReencryptOptions extends WaitOptions {
  readonly destroyOldKeys?: boolean;
}

interface DeleteOptions extends WaitOptions {
  readonly yes?: boolean;
  readonly grace: string;
}

export function addRotationCommands(keys: Command): void {
  keys
    .command("rotate-master")
    .description("rewrap every key with MASTER_KEY; workers need the previous key as MASTER_KEY_PREVIOUS")
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON; the report is always JSON")
    .action((options: WaitOptions) => runOperation(options, ({ db }) => requestRotation(db, null)));
  keys
    .command("rotate-organization")
    .description("give an organization a new key, used for everything encrypted from now on")
    .argument("<id>", "the organization's id")
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON; the report is always JSON")
    .action((id: string, options: WaitOptions) =>
      runOperation(options, async ({ db }) => requestRotation(db, (await everyOrganization(db, id))[0]!)),
    );
  keys
    .command("reencrypt-organization")
    .description("re-encrypt an organization's files with its current key, after a rotation")
    .argument("<id>", "the organization's id")
    .option(
      "--destroy-old-keys",
      "also destroy older keys once nothing needs them, which takes as long as Temporal keeps histories",
    )
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON; the report is always JSON")
    .action((id: string, options: ReencryptOptions) =>
      runOperation(options, async ({ db }) =>
        requestReencryption(db, (await everyOrganization(db, id))[0]!, {
          destroysOldKeys: options.destroyOldKeys === true,
        }),
      ),
    );
}

/** @returns the command, to which other files add subcommands */
export function addOrganizationCommand(program: Command): Command {
  const organization = program.command("organization").description("organizations");
  organization
    .command("delete")
    .description(
      "permanently delete an organization with all its data, and print the verification; this cannot " +
        "be undone",
    )
    .argument("<id>", "the organization's id")
    .option("--yes", "confirm the deletion")
    .option("--grace <seconds>", "how long to wait for the caches of other processes", String(GRACE_SECONDS))
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON; the report is always JSON")
    .action((id: string, options: DeleteOptions) =>
      runOperation(options, ({ db }) => askForDeletion(db, id, options)),
    );
  return organization;
}

async function askForDeletion(db: Database, id: string, { yes, grace }: DeleteOptions): Promise<string> {
  const organization = (await everyOrganization(db, id))[0]!;
  const seconds = Number(grace);
  if (!Number.isInteger(seconds) || seconds < 0)
    throw new CommandError("--grace must be a whole number of seconds.");
  if (yes !== true)
    throw new CommandError("This deletes the organization and destroys its key. Pass --yes to confirm.");
  return requestOrganizationDeletion(db, organization, seconds);
}

/**
 * Requests an operation and prints its report after a worker has done it. The process exits with 1 if the
 * operation failed.
 * @param request returns the id of the operation
 */
export async function runOperation(
  { wait, json }: WaitOptions,
  request: (connection: Connection) => Promise<string>,
): Promise<void> {
  await withDatabase(async (connection) => {
    const id = await request(connection);
    if (!wait)
      return json
        ? printJson({ operation_id: id })
        : printLine(`operation ${id} requested; a worker will run it`);
    const { completed_at, kind, report } = await waitForOperation(
      connection.db,
      id,
      startProgress("", { json }),
    );
    if ("failed" in report) process.exitCode = 1;
    printJson({ operation_id: id, kind, completed_at, report });
  });
}

async function waitForOperation(db: Database, id: string, progress: Progress): Promise<Operation> {
  try {
    for (;;) {
      const found = await findOperation(db, id);
      if (found !== undefined) progress.show(found.report, ...howFar(found.report));
      if (found !== undefined && found.completed_at !== null) return found;
      await sleep(POLL_MS);
    }
  } finally {
    progress.stop();
  }
}

/** How much is done and of how many; zeros if the report has no total. */
function howFar(report: Readonly<Record<string, unknown>>): [done: number, total: number] {
  const name = Object.keys(report).find((key) => key.endsWith("_total"));
  return name === undefined
    ? [0, 0]
    : [Number(report[name.replace(/_total$/, "")]) || 0, Number(report[name])];
}
