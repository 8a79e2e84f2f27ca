/** `holdfast token EMAIL`: gets an access token from the development issuer. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { OPERATORS } from "../../auth/authenticate.ts";
import { loadConfig } from "../../config/config.ts";
import { withDatabase } from "../connect.ts";
import { theUser } from "../the-user.ts";
import { CommandError, printJson, printLine } from "../output.ts";

const TIMEOUT_MS = 10_000;
const ROLES = [OPERATORS];

interface Options {
  readonly organization?: string;
  readonly role?: string;
  readonly mcp?: boolean;
  readonly json?: boolean;
}

/** What the development issuer writes into `issuer.json`: its address and the credentials for tokens. */
interface Announcement {
  readonly url: string;
  readonly client: string;
  readonly grant: string;
  readonly secret: string;
}

export function addTokenCommand(program: Command): void {
  program
    .command("token")
    .description("print an access token (JWT) of a user, from the development issuer")
    .argument("<email>", "a provisioned user")
    .option(
      "--organization <organization>",
      "the user's organization, by id or name; needed if several users have this address",
    )
    .option(
      "--role <role>",
      `a role that the token's claim \`roles\` holds besides: ${ROLES.join(", ")} may read workflows' ` +
        "payloads in Temporal's Web UI",
    )
    .option("--mcp", "issue a token for the Model Context Protocol, valid only for /mcp")
    .option("--json", "print JSON")
    .action(async (email: string, { organization, role, mcp, json }: Options) => {
      if (role !== undefined && !ROLES.includes(role))
        throw new CommandError(`--role must be ${ROLES.join(" or ")}.`);
      const issuer = await findIssuer();
      const { user } = await withDatabase(({ db }) => theUser(db, email, organization));
      // A user without a subject gets the id as one; the first token binds it by the verified address.
      const token = await requestToken(issuer, {
        subject: user.subject ?? user.id,
        email: user.email,
        name: user.name,
        ...(role === undefined ? {} : { roles: role }),
        ...(mcp === true ? { resource: `${loadConfig().api.publicUrl}/mcp` } : {}),
      });
      if (json) printJson(token);
      else printLine(token.access_token);
    });
}

/** Undefined if no development issuer has run with this data folder. */
export async function findAnnouncement(dataDir: string): Promise<Announcement | undefined> {
  const text = await readFile(join(dataDir, "issuer.json"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Announcement);
}

async function findIssuer(): Promise<Announcement> {
  const { dataDir, oidc } = loadConfig();
  const announced = await findAnnouncement(dataDir);
  if (announced === undefined)
    throw new CommandError(
      `The development issuer is not running on ${dataDir}: start it with npm start, without OIDC_ISSUER ` +
        "and not in production.",
    );
  if (oidc !== undefined && oidc.issuer !== announced.url)
    throw new CommandError(
      `OIDC_ISSUER is ${oidc.issuer}: get tokens there. This command works only with the development issuer.`,
    );
  return announced;
}

async function requestToken(
  { url, client, grant, secret }: Announcement,
  user: Readonly<Record<string, string>>,
): Promise<{ access_token: string; token_type: string; expires_in: number }> {
  const response = await fetch(`${url}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString("base64")}` },
    body: new URLSearchParams({ grant_type: grant, ...user }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => {
    throw new CommandError(`The development issuer at ${url} is not responding.`);
  });
  if (!response.ok)
    throw new CommandError(`The development issuer refused (${response.status}): ${await response.text()}`);
  return (await response.json()) as { access_token: string; token_type: string; expires_in: number };
}
