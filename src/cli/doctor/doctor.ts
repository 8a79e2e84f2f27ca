/** `holdfast doctor`: one line for each thing that an installation needs, and what to do if it is missing. */
import type { Command } from "commander";
import { type Config, unknownSettings } from "../../config/config.ts";
import type { Database } from "../../db/pool.ts";
import { announcedTemporal } from "../../embedded/servers/temporal.ts";
import { openObjectStore, writtenFolders } from "../../storage/open-store.ts";
import { configuredMasterKey, openConfigured } from "../connect.ts";
import { CommandError, printJson, printLine } from "../output.ts";
import { findAnnouncement } from "../commands/token.ts";
import { type Check, type Result, runChecks } from "./check.ts";
import { diskCheck, nodeCheck, ocrCheck, storeCheck } from "./host.ts";
import { issuerChecks, providerChecks } from "./outside.ts";
import { postgresChecks } from "./postgres.ts";
import { checkSettings } from "./settings.ts";
import { temporalChecks } from "./temporal.ts";

interface Options {
  readonly providerCalls: boolean;
  readonly json?: boolean;
}

const STATE_WIDTH = 4;

export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description(
      "check settings, Postgres, Temporal, the object store, keys, issuer, clocks, disk and " +
        "model providers; exits with 1 if something fails",
    )
    .option(
      "--no-provider-calls",
      "skip model providers, which otherwise get one tiny request each that may cost money",
    )
    .option("--json", "print JSON")
    .action(examine);
}

/** Leaves nothing changed. Prints in a fixed order. */
async function examine({ providerCalls, json }: Options): Promise<void> {
  // oxlint-disable-next-line node/no-process-env -- it checks the settings themselves
  const { config, findings } = checkSettings(process.env, unknownSettings);
  const settings = findings.map((finding) => ({ name: "settings", ...finding }));
  const results = [
    ...settings,
    ...(config === undefined ? await runChecks([nodeCheck()]) : await examineParts(config, providerCalls)),
  ];
  const isFine = results.every(({ state }) => state !== "fail");
  if (json) printJson({ ok: isFine, checks: results });
  else printResults(results);
  if (config === undefined && !json) printLine("nothing else can be checked without valid settings");
  if (!isFine) process.exitCode = 1;
}

async function examineParts(config: Config, hasProviderCalls: boolean): Promise<Result[]> {
  const opened: (() => Promise<unknown>)[] = [];
  const db = once(async () => {
    const database = await openConfigured(config);
    opened.push(() => database.close());
    return database;
  });
  const client = once(async () => {
    const temporal = await openTemporal(config);
    opened.push(() => temporal.connection.close());
    return temporal;
  });
  try {
    return await runChecks(await checksOf(config, { db, client, hasProviderCalls }));
  } finally {
    await Promise.allSettled(opened.map((close) => close()));
  }
}

interface Parts {
  readonly db: () => Promise<Database>;
  readonly client: () => ReturnType<typeof openTemporal>;
  readonly hasProviderCalls: boolean;
}

async function checksOf(config: Config, { db, client, hasProviderCalls }: Parts): Promise<Check[]> {
  const issuer = config.oidc?.issuer ?? (await findAnnouncement(config.dataDir))?.url;
  return [
    nodeCheck(),
    ...postgresChecks({ config, db, masterKey: () => configuredMasterKey(config) }),
    ...temporalChecks({ namespace: config.temporal.namespace, client }),
    storeCheck(config, () => openObjectStore(config.storage)),
    ...issuerChecks(issuer),
    diskCheck(writtenFolders(config.dataDir, config.storage), config.disk.floorBytes),
    ocrCheck(config),
    ...(hasProviderCalls ? providerChecks(config) : []),
  ];
}

/** Loads Temporal's packages only now, because they take long. @throws CommandError if no address is known */
async function openTemporal({ temporal, dataDir }: Config) {
  const address = temporal.address ?? (await announcedTemporal(dataDir));
  if (address === undefined) throw new CommandError("Temporal is neither configured nor running here");
  const { lazyClient } = await import("../../temporal/connection.ts");
  return lazyClient({ ...temporal, address }, {});
}

/** Opens at most once; every caller gets the same result or the same error. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}

function printResults(results: readonly Result[]): void {
  const width = Math.max(...results.map(({ name }) => name.length));
  for (const { state, name, seen, remedy } of results)
    printLine(
      `${state.padEnd(STATE_WIDTH)}  ${name.padEnd(width)}  ${seen}` +
        `${remedy === undefined ? "" : ` — ${remedy}`}`,
    );
}
