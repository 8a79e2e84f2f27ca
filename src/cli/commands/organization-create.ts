/**
 * `holdfast organization create`
 *
 * It acts for the operator, before there is a member who could ask a command of src/commands for it.
 */
import type { Command } from "commander";
import { isWellFormedKey } from "../../auth/api-keys.ts";
import { createOrganization } from "../../db/tenancy/new-organization.ts";
import { ProvisionError } from "../../domain/tenancy/provision-error.ts";
import type { ProvisionFile } from "../../domain/tenancy/provision-file.ts";
import { parseProvisionFile } from "../../schema/files/provision.ts";
import { announcedApi } from "../../embedded/api-address.ts";
import { withDatabase } from "../connect.ts";
import { CommandError, printJson, printLine } from "../output.ts";
import { keyMaker } from "./provision.ts";

interface Options {
  readonly name: string;
  readonly adminEmail: string;
  readonly adminName?: string;
  readonly space: string;
  readonly keyName: string;
  readonly json?: boolean;
}

/** The option that gave each field of the provisioning file, for its mistakes. */
const OPTION_OF: Readonly<Record<string, string>> = {
  "organizations[0].name": "--name",
  "organizations[0].users[0].email": "--admin-email",
  "organizations[0].users[0].name": "--admin-name",
  "organizations[0].users[0].api_keys[0].name": "--key-name",
  "organizations[0].spaces[0].name": "--space",
};

export function addCreateCommand(organization: Command): void {
  organization
    .command("create")
    .description(
      "create an organization with its first administrator, a shared space and an API key, which is " +
        "shown only now",
    )
    .requiredOption("--name <name>", "name of the organization; must be new")
    .requiredOption(
      "--admin-email <email>",
      "the administrator's address; signs in with this exact verified address",
    )
    .option("--admin-name <name>", "default: the part before the @")
    .option("--space <name>", "the first shared space", "Documents")
    .option("--key-name <name>", "name of the administrator's key", "first key")
    .option("--json", "print JSON")
    .action(create);
}

async function create(options: Options): Promise<void> {
  const file = fileOf(options);
  const { made, url } = await withDatabase(async ({ db, config, pepper }) => ({
    made: await createOrganization(db, file, keyMaker(await pepper())),
    // With npm start, this shell may lack the PORT of the start; the key is sent to the printed address.
    url:
      (config.database.url === undefined ? await announcedApi(config.dataDir) : undefined) ??
      config.api.publicUrl,
  }));
  if (options.json) return printJson(made);
  const authorization = `-H 'Authorization: Bearer ${made.key}'`;
  const search = JSON.stringify({ query: "What is it about?", space_id: made.space_id });
  const lines = [
    `organization ${options.name} (${made.organization_id})`,
    `administrator ${options.adminEmail} (${made.admin_id}), space ${options.space} (${made.space_id})`,
    `key "${options.keyName}", shown only now: ${made.key}`,
    "",
    "Next, upload a document, and search it once it is processed, after a few seconds:",
    "",
    `curl -sS ${url}/v1/data/upload ${authorization} -F file=@FILE -F space_id=${made.space_id}`,
    `curl -sS ${url}/v1/data/hybrid-search ${authorization} -H 'Content-Type: application/json' -d ` +
      `'${search}'`,
    "",
    "To add people, spaces and agents, use holdfast provision FILE or the API.",
  ];
  for (const line of lines) printLine(line);
}

/** @throws CommandError that names the option */
function fileOf({ name, adminEmail: email, adminName, space, keyName }: Options): ProvisionFile {
  const user = {
    email,
    role: "admin",
    api_keys: [{ name: keyName }],
    ...(adminName === undefined ? {} : { name: adminName }),
  };
  const organization = { name, users: [user], spaces: [{ name: space, members: { [email]: "owner" } }] };
  try {
    return parseProvisionFile(JSON.stringify({ organizations: [organization] }), {
      environment: {},
      isKey: isWellFormedKey,
    });
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    const said = error.mistakes.flatMap((mistake) => {
      const at = mistake.indexOf(": ");
      const option = OPTION_OF[mistake.slice(0, at)];
      return option === undefined ? [] : [`${option}${mistake.slice(at + 1)}`];
    });
    throw new CommandError(`Nothing was created: ${(said.length > 0 ? said : error.mistakes).join("; ")}.`);
  }
}
