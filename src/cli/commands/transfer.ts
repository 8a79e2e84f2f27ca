/** `holdfast organization list | export | import`: moves organizations between instances. */
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { requestTransfer } from "../../db/outbox/operations.ts";
import { listOrganizations } from "../../db/tenancy/organizations.ts";
import { readManifest } from "../../storage/archive.ts";
import { ARCHIVE_KEY_AAD } from "../../storage/keys/keyring.ts";
import { type Connection, withDatabase } from "../connect.ts";
import { type WaitOptions, runOperation } from "./operations.ts";
import { everyOrganization } from "../organizations.ts";
import { CommandError, printJson, printTable } from "../output.ts";

interface ExportOptions extends WaitOptions {
  readonly to: string;
  readonly keyFile: string;
}

interface ImportOptions extends WaitOptions {
  readonly from: string;
  readonly keyFile: string;
}

const KEY_BYTES = 32;

export function addTransferCommands(organization: Command): void {
  organization.command("list").description("list organizations").option("--json", "print JSON").action(list);
  organization
    .command("export")
    .description(
      "export an organization to a folder that workers can also access: people, spaces, agents, files, " +
        "published documents with their vectors",
    )
    .argument("<id>", "the organization's id")
    .requiredOption("--to <folder>", "the archive folder; an unfinished export continues")
    .requiredOption(
      "--key-file <file>",
      "file with the archive's key, 32 bytes in base64; created if missing",
    )
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON; the report is always JSON")
    .action((id: string, options: ExportOptions) =>
      runOperation(options, (connection) => askForExport(connection, id, options)),
    );
  organization
    .command("import")
    .description("import an archive into this instance, keeping its ids; API keys are created anew")
    .requiredOption("--from <folder>", "the archive, in a folder that workers can also read")
    .requiredOption("--key-file <file>", "the archive's key")
    .option("--no-wait", "do not wait for the report")
    .option("--json", "print JSON; the report is always JSON")
    .action((options: ImportOptions) =>
      runOperation(options, (connection) => askForImport(connection, options)),
    );
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const all = await withDatabase(({ db }) => listOrganizations(db));
  if (json) return printJson(all);
  printTable(
    ["ID", "NAME", "CREATED"],
    all.map(({ id, name, created_at }) => [id, name, created_at.toISOString()]),
  );
}

async function askForExport(
  connection: Connection,
  id: string,
  { to, keyFile }: ExportOptions,
): Promise<string> {
  const organization = (await everyOrganization(connection.db, id))[0]!;
  // An existing key is never overwritten: an archive may be sealed with it.
  await writeFile(keyFile, `${randomBytes(KEY_BYTES).toString("base64")}\n`, {
    mode: 0o600,
    flag: "wx",
  }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });
  return requestTransfer(connection.db, {
    kind: "export_organization",
    organization,
    parameters: await parametersOf(connection, to, keyFile),
  });
}

async function askForImport(connection: Connection, { from, keyFile }: ImportOptions): Promise<string> {
  const { organization_id: id } = (await readManifest(from)) as { organization_id: string };
  return requestTransfer(connection.db, {
    kind: "import_organization",
    organization: { id, num: 0 },
    parameters: await parametersOf(connection, from, keyFile),
  });
}

async function parametersOf(
  { masterKey }: Connection,
  folder: string,
  keyFile: string,
): Promise<{ folder: string; wrapped_key: string }> {
  const key = Buffer.from((await readFile(keyFile, "utf8")).trim(), "base64");
  if (key.length !== KEY_BYTES)
    throw new CommandError(`${keyFile} does not contain ${KEY_BYTES} bytes in base64.`);
  return {
    folder: resolve(folder),
    wrapped_key: (await (await masterKey()).wrap(key, ARCHIVE_KEY_AAD)).toString("base64"),
  };
}
