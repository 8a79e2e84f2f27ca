/** `holdfast seals cut-over`: from then on, payloads that are not bound to their place are refused. */
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { findCutOver, storeCutOver } from "../../db/instance/cut-overs.ts";
import { BOUND_PAYLOADS } from "../../temporal/seals/cut-over.ts";
import { withDatabase } from "../connect.ts";
import { CommandError, printJson, printLine } from "../output.ts";

const SHOWN_PROCESSES = 10;

interface Options {
  readonly unchecked?: boolean;
  readonly json?: boolean;
}

export function addSealsCommand(program: Command): void {
  program
    .command("seals")
    .description("how what Temporal keeps is sealed")
    .command("cut-over")
    .description(
      "after an upgrade from 0.3.0, once none of its processes runs: from now on payloads are bound to " +
        "the place that they were sealed for, and others are refused",
    )
    .option("--unchecked", "do not ask Temporal whether a worker of an older version still asks for work")
    .option("--json", "print JSON")
    .action(cutOver);
}

/** Idempotent: the first moment is kept. @throws CommandError while an older version runs */
async function cutOver({ unchecked = false, json }: Options): Promise<void> {
  const at = await withDatabase(async ({ db, config }) => {
    const known = await findCutOver(db.system, BOUND_PAYLOADS);
    if (known !== null) return known;
    if (!unchecked) await assertNoneIsOlder(config);
    return storeCutOver(db.system, BOUND_PAYLOADS);
  });
  if (json) printJson({ name: BOUND_PAYLOADS, at: at.toISOString() });
  else printLine(`payloads are bound to their place since ${at.toISOString()}`);
}

async function assertNoneIsOlder({ temporal: { address, ...settings } }: Config): Promise<void> {
  if (address === undefined)
    throw new CommandError(
      "No Temporal: set TEMPORAL_ADDRESS to that of the running service, or say --unchecked where " +
        "nothing of an older version runs.",
    );
  // Temporal's packages are loaded only here, because they take long.
  const [{ lazyClient }, { findOlderWorkers }] = await Promise.all([
    import("../../temporal/connection.ts"),
    import("../../temporal/seals/older-workers.ts"),
  ]);
  const client = lazyClient({ ...settings, address }, {});
  try {
    const older = await findOlderWorkers(client, settings.namespace);
    if (older.length === 0) return;
    const named = older.slice(0, SHOWN_PROCESSES).join(", ");
    throw new CommandError(
      older.length === 1
        ? `A process of an older version has asked for work in the last 75 seconds: ${named}. ` +
            "End it, and wait as long."
        : `${older.length} processes of an older version have asked for work in the last 75 seconds: ` +
            `${named}. End them, and wait as long.`,
    );
  } finally {
    await client.connection.close();
  }
}
