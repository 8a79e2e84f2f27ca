/** `holdfast provision FILE` */
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { createKeyText, hashKey, isWellFormedKey, keyPrefix } from "../auth/api-keys.ts";
import { applyProvisionFile, type ProvisionResult } from "../db/provision.ts";
import { parseProvisionFile } from "../schema/provision.ts";
import { withDatabase } from "./connect.ts";
import { CommandError, printJson, printLine } from "./output.ts";

export function addProvisionCommand(program: Command): void {
  program
    .command("provision")
    .description("add and update the organizations, users, spaces, agents and keys that a YAML file names; nothing is deleted")
    .argument("<file>", "the YAML file")
    .option("--json", "print JSON")
    .action(async (path: string, { json }: { json?: boolean }) => {
      const text = await readFile(path, "utf8").catch((error: Error) => {
        throw new CommandError(`${path} cannot be read: ${error.message}`);
      });
      // oxlint-disable-next-line node/no-process-env -- ${NAME} in the file stands for any variable
      const file = parseProvisionFile(text, { environment: process.env, isKey: isWellFormedKey });
      const result = await withDatabase(async ({ db, pepper }) => {
        const secret = await pepper();
        return applyProvisionFile(db, file, { create: createKeyText, hash: (key) => hashKey(secret, key), prefix: keyPrefix });
      });
      if (json) printJson(result);
      else printResult(result);
    });
}

function printResult({ created, updated, keys, warnings }: ProvisionResult): void {
  for (const warning of warnings) printLine(`warning: ${warning}`);
  printLine(created + updated === 0 ? "everything is as the file says" : `${created} added, ${updated} changed`);
  for (const { email, name, key } of keys) printLine(`key "${name}" of ${email}, shown only now: ${key}`);
}
