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
    .description("wrap every key anew by MASTER_KEY; workers must have the key before as MASTER_KEY_PREVIOUS")
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON, as the report is in any case")
    .action((options: WaitOptions) => runOperation(options, ({ db }) => requestRotation(db, null)));
  keys
    .command("rotate-organization")
    .description("give an organization a new key for all that is encrypted from now on")
    .argument("<id>", "the organization's id")
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON, as the report is in any case")
    .action((id: string, options: WaitOptions) =>
      runOperation(options, async ({ db }) => requestRotation(db, (await everyOrganization(db, id))[0]!)),
    );
  keys
    .command("reencrypt-organization")
    .description("encrypt an organization's files anew under its current key, after a rotation")
    .argument("<id>", "the organization's id")
    .option(
      "--destroy-old-keys",
      "and destroy the keys before it once nothing needs them; that takes as long as Temporal keeps " +
        "histories",
    )
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON, as the report is in any case")
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
      "delete an organization with everything that it has, and print what was read back; there is no " +
        "way back",
    )
    .argument("<id>", "the organization's id")
    .option("--yes", "do it")
    .option("--grace <seconds>", "how long caches of other processes are waited for", String(GRACE_SECONDS))
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON, as the report is in any case")
    .action((id: string, options: DeleteOptions) =>
      runOperation(options, ({ db }) => askForDeletion(db, id, options)),
    );
  return organization;
}

async function askForDeletion(db: Database, id: string, { yes, grace }: DeleteOptions): Promise<string> {
  const organization = (await everyOrganization(db, id))[0]!;
  const seconds = Number(grace);
  if (!Number.isInteger(seconds) || seconds < 0)
    throw new CommandError("--grace takes a whole number of seconds.");
  if (yes !== true)
    throw new CommandError(
      "This deletes the organization and shreds its key. Say --yes where that is what you want.",
    );
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
        : printLine(`operation ${id} is asked for; a worker does it`);
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
