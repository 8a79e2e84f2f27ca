/**
 * `holdfast provision FILE`
 *
 * It acts for the operator, who is no member of an organization: there is no caller whose rights a command of
 * src/commands could check, and the whole file is one transaction.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { createKeyText, hashKey, isWellFormedKey, keyPrefix, PEPPER } from "../../auth/api-keys.ts";
import { findInstanceSecret } from "../../db/instance/secrets.ts";
import type { KeyMaker } from "../../db/provisioning/keys.ts";
import { applyProvisionFile, type ProvisionResult, tryProvisionFile } from "../../db/provisioning/apply.ts";
import { parseProvisionFile } from "../../schema/files/provision.ts";
import { type Connection, withDatabase } from "../connect.ts";
import { CommandError, printJson, printLine } from "../output.ts";

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** How many things that the file does not name are printed; --json has more. */
const SHOWN_UNNAMED = 20;
const PEPPER_BYTES = 32;

export function addProvisionCommand(program: Command): void {
  program
    .command("provision")
    .description(
      "add and update the organizations, users, spaces, agents and keys listed in a YAML file; nothing " +
        "is deleted, and anything not in the file is listed",
    )
    .argument("<file>", "the YAML file")
    .option("--dry-run", "show what would change, without changing anything")
    .option("--json", "print JSON")
    .action(provision);
}

async function provision(path: string, { dryRun = false, json }: Options): Promise<void> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new CommandError(`${path} cannot be read: ${error.message}`);
  });
  // oxlint-disable-next-line node/no-process-env -- ${NAME} in the file stands for any variable
  const file = parseProvisionFile(text, { environment: process.env, isKey: isWellFormedKey });
  const result = await withDatabase(async (connection) =>
    dryRun
      ? tryProvisionFile(connection.db, file, keyMaker(await pepperAsItIs(connection)))
      : applyProvisionFile(connection.db, file, keyMaker(await connection.pepper())),
  );
  // The keys of a dry run do not exist, so their texts are left out.
  if (json)
    return printJson(
      dryRun
        ? { dry_run: true, ...result, keys: result.keys.map(({ email, name }) => ({ email, name })) }
        : result,
    );
  printResult(result, dryRun);
}

/** Reads the pepper without making it: a dry run leaves nothing behind. Without one any value serves. */
async function pepperAsItIs({ db, masterKey }: Connection): Promise<Buffer> {
  return (await findInstanceSecret(db, PEPPER, await masterKey())) ?? randomBytes(PEPPER_BYTES);
}

/** @param pepper the secret that key hashes are made with. */
export function keyMaker(pepper: Buffer): KeyMaker {
  return { create: createKeyText, hash: (key) => hashKey(pepper, key), prefix: keyPrefix };
}

function printResult(
  { created, updated, keys, warnings, changes, unnamed }: ProvisionResult,
  isDry: boolean,
): void {
  for (const warning of warnings) printLine(`warning: ${warning}`);
  if (isDry)
    for (const { outcome, what, path } of changes)
      printLine(`${outcome.padEnd("unchanged".length)}  ${what}  (${path})`);
  for (const what of unnamed.listed.slice(0, SHOWN_UNNAMED))
    printLine(`not in the file, left unchanged: ${what}`);
  const more = unnamed.listed.length - SHOWN_UNNAMED;
  if (more > 0)
    printLine(
      `not in the file: ${more}${unnamed.hasMore ? " or more" : ""} others; --dry-run --json lists them`,
    );
  const counts = `${created} added, ${updated} changed`;
  printLine(
    created + updated === 0
      ? "everything matches the file"
      : isDry
        ? `dry run, nothing was changed; would be ${counts}`
        : counts,
  );
  if (!isDry)
    for (const { email, name, key } of keys) printLine(`key "${name}" of ${email}, shown only now: ${key}`);
}
