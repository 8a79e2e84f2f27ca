/**
 * `holdfast keys create | revoke | list`
 *
 * They act for the operator, who is no member of an organization: there is no caller whose rights a command
 * of src/commands could check, so the audit rows are those of the system.
 */
import type { Command } from "commander";
import { writeKey } from "../../commands/keys/write-key.ts";
import { revokeApiKey } from "../../db/keys/api-keys.ts";
import { findOrganizationOfKey, listAllApiKeys, type ListedApiKey } from "../../db/keys/operator.ts";
import { appendAudit, type AuditEntry } from "../../db/audit/append.ts";
import { inTenant, type Sql } from "../../db/pool.ts";
import { listSpacesOfUser } from "../../db/tenancy/spaces.ts";
import { isUuid } from "../../domain/ids.ts";
import { canonicalCidr } from "../../domain/tenancy/cidr.ts";
import { CAPABILITIES, type Capability } from "../../domain/tenancy/principal.ts";
import { PRIVATE_SPACE } from "../../domain/tenancy/provision-file.ts";
import { withDatabase } from "../connect.ts";
import { addRotationCommands } from "./operations.ts";
import { CommandError, printJson, printLine, printTable, wholeNumber } from "../output.ts";
import { theUser } from "../the-user.ts";

interface CreateOptions {
  readonly email: string;
  readonly organization?: string;
  readonly name: string;
  readonly spaces?: string;
  readonly capabilities?: string;
  readonly expires?: string;
  readonly addresses?: string;
  readonly json?: boolean;
}

const KEYS_SHOWN = 200;
const MOST_KEYS = 10_000;

export function addKeysCommand(program: Command): void {
  const keys = program
    .command("keys")
    .description("create, revoke and list API keys; rotate encryption keys");
  keys
    .command("create")
    .description("create a key; it is shown only once")
    .requiredOption("--email <email>", "its owner")
    .option(
      "--organization <organization>",
      "the owner's organization, by id or name; needed if several users have this address",
    )
    .requiredOption("--name <name>", "name of the key")
    .option(
      "--spaces <names>",
      "limit it to these spaces: comma-separated names or ids; `private` is the owner's private space",
    )
    .option("--capabilities <list>", `limit it to some of: ${CAPABILITIES.join(",")}`)
    .option("--expires <time>", "expiry as an ISO 8601 time")
    .option(
      "--addresses <list>",
      "allow it only from these networks or addresses, comma-separated: 192.0.2.0/24",
    )
    .option("--json", "print JSON")
    .action(createKey);
  keys
    .command("revoke")
    .description("revoke a key; every process refuses it within 5 seconds")
    .argument("<id>", "the key's id")
    .option("--json", "print JSON")
    .action(revokeKey);
  addRotationCommands(keys);
  keys
    .command("list")
    .description("list keys, newest first, with their capabilities and spaces")
    .option("--email <email>", "only keys of this user")
    .option("--limit <count>", "maximum number of keys to list", String(KEYS_SHOWN))
    .option("--json", "print JSON")
    .action(listKeys);
}

async function createKey(options: CreateOptions): Promise<void> {
  const capabilities = parseCapabilities(options.capabilities);
  const expiresAt = parseTime(options.expires);
  const allowedCidrs = parseAddresses(options.addresses);
  const made = await withDatabase(async ({ db, pepper }) => {
    const { user, organization } = await theUser(db, options.email, options.organization);
    const secret = await pepper();
    return inTenant(db, organization, async (sql) => {
      const spaces = await chosenSpaces(sql, user.id, options.spaces);
      const key = await writeKey(sql, secret, organization, {
        userId: user.id,
        createdBy: null,
        name: options.name,
        spaces,
        capabilities,
        expiresAt,
        allowedCidrs,
      });
      await appendAudit(sql, { authMethod: "system", organization }, keyEntry("create", key.id));
      return key;
    });
  });
  if (options.json) printJson(made);
  else printLine(`key ${made.id} of ${options.email}, shown only now: ${made.key}`);
}

async function revokeKey(id: string, options: { json?: boolean }): Promise<void> {
  if (!isUuid(id)) throw new CommandError("A key id is a UUID; `holdfast keys list` shows it.");
  await withDatabase(async ({ db }) => {
    const organization = await findOrganizationOfKey(db, id);
    if (organization === undefined) throw new CommandError(`There is no key with the id ${id}.`);
    await inTenant(db, organization, async (sql) => {
      await revokeApiKey(sql, id, null);
      await appendAudit(sql, { authMethod: "system", organization }, keyEntry("revoke", id));
    });
  });
  if (options.json) printJson({ id, revoked: true });
  else printLine(`key ${id} is revoked`);
}

async function listKeys(options: { email?: string; limit: string; json?: boolean }): Promise<void> {
  const limit = wholeNumber("--limit", options.limit, MOST_KEYS);
  const keys = await withDatabase(({ db }) => listAllApiKeys(db, { email: options.email ?? null, limit }));
  if (options.json) return printJson(keys);
  printTable(
    ["ID", "ORGANIZATION", "OWNER", "ROLE", "NAME", "PREFIX", "SPACES", "MAY", "LAST USED", "FROM", "STATE"],
    keys.map((key) => [
      key.id,
      key.organization,
      key.email,
      key.role,
      key.name,
      `${key.prefix}…`,
      ...scopeOf(key),
      ...lastUseOf(key),
      stateOf(key),
    ]),
  );
  if (keys.length === limit)
    printLine(`these are the newest ${limit}; use --limit to show more, --email for one user`);
}

/** The columns SPACES and MAY. */
function scopeOf({ spaces, capabilities }: ListedApiKey): [string, string] {
  return [
    spaces === null ? "all" : spaces.join(", ") || "none",
    capabilities.length === CAPABILITIES.length ? "all" : capabilities.join(", "),
  ];
}

function lastUseOf({ last_used_at: at, last_used_ip: from }: ListedApiKey): [string, string] {
  return [at?.toISOString() ?? "never", from ?? ""];
}

function stateOf(key: ListedApiKey): string {
  if (key.revoked_at !== null) return key.revoked_reason ?? "revoked";
  return key.expires_at !== null && key.expires_at.getTime() <= Date.now() ? "expired" : "valid";
}

function keyEntry(change: "create" | "revoke", id: string): AuditEntry {
  return {
    action: `api_keys:${change}`,
    resource_type: "api_key",
    resource_id: id,
    space_id: null,
    request_id: null,
    outcome: "success",
    events: [{ type: change === "create" ? "key.created" : "key.revoked" }],
  };
}

async function chosenSpaces(sql: Sql, userId: string, list: string | undefined): Promise<string[] | null> {
  if (list === undefined) return null;
  const spaces = await listSpacesOfUser(sql, userId);
  return parts("--spaces", list).map((wanted) => {
    const word = wanted.toLowerCase();
    const space = spaces.find(
      (one) => one.id === word || (one.is_private ? word === PRIVATE_SPACE : one.name.toLowerCase() === word),
    );
    if (space === undefined) throw new CommandError(`The owner has no role in a space named ${wanted}.`);
    return space.id;
  });
}

function parseCapabilities(list: string | undefined): Capability[] | null {
  if (list === undefined) return null;
  return parts("--capabilities", list).map((word) => {
    const known = CAPABILITIES.find((capability) => capability === word);
    if (known === undefined) throw new CommandError(`${word} is not one of ${CAPABILITIES.join(", ")}.`);
    return known;
  });
}

function parseTime(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new CommandError(`${text} is not an ISO 8601 time.`);
  if (time.getTime() <= Date.now()) throw new CommandError(`--expires ${text} is in the past.`);
  return time;
}

function parseAddresses(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  return parts("--addresses", list).map((word) => {
    const cidr = canonicalCidr(word);
    if (cidr === null)
      throw new CommandError(`${word} is not an IPv4 or IPv6 network, or has bits set beyond its prefix.`);
    return cidr;
  });
}

/** @throws CommandError if nothing is named: such a key could be used nowhere, or for nothing */
function parts(option: string, list: string): string[] {
  const named = list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (named.length === 0) throw new CommandError(`${option} is empty; omit it for a key without this limit.`);
  return named;
}
