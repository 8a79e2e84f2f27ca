/** `holdfast mcp-config CLIENT`: prints what a program needs to use this service by `/mcp`. */
import { Argument, type Command } from "commander";
import { loadConfig } from "../../config/config.ts";
import { CommandError, printLine } from "../output.ts";

interface Options {
  readonly url?: string;
  readonly key?: string;
  readonly login?: boolean;
}

/** How a client's configuration says where the service is, and what it sends with each request. */
interface Server {
  readonly url: string;
  /** The text of the header; undefined: the client signs its user in. */
  readonly authorization: string | undefined;
}

/** The variable in which the key is kept, unless it is asked for. */
const KEY_VARIABLE = "HOLDFAST_API_KEY";

/** VS Code asks for it once, and keeps it. */
const KEY_INPUT = {
  type: "promptString",
  id: "holdfast-key",
  description: "Holdfast API key",
  password: true,
} as const;
const ASKED_KEY = `\${input:${KEY_INPUT.id}}`;

interface ClientForm {
  /** How this client reads a variable of the environment. */
  readonly variable: string;
  readonly where: string;
  /** What it does with the key, unless its user signs in or the key is printed. */
  readonly asks?: string;
  readonly config: (server: Server) => object | string;
}

const headersOf = ({ authorization }: Server): { headers?: { Authorization: string } } =>
  authorization === undefined ? {} : { headers: { Authorization: authorization } };

const CLIENTS: Readonly<Record<string, ClientForm>> = {
  "claude-code": {
    variable: `\${${KEY_VARIABLE}}`,
    where: "`.mcp.json` of a project",
    config: (server) => ({
      mcpServers: { holdfast: { type: "http", url: server.url, ...headersOf(server) } },
    }),
  },
  "claude-desktop": {
    variable: `<${KEY_VARIABLE}>`,
    where: "`claude_desktop_config.json`, for which npx fetches `mcp-remote`",
    asks: "with the key in its place",
    config: ({ url, authorization }) => ({
      mcpServers: {
        holdfast: {
          command: "npx",
          args: [
            "-y",
            "mcp-remote",
            url,
            ...(authorization === undefined ? [] : ["--header", "Authorization:${HOLDFAST_AUTHORIZATION}"]),
          ],
          ...(authorization === undefined ? {} : { env: { HOLDFAST_AUTHORIZATION: authorization } }),
        },
      },
    }),
  },
  vscode: {
    variable: ASKED_KEY,
    where: "`.vscode/mcp.json`",
    asks: "which asks for the key once",
    config: (server) => ({
      ...(server.authorization?.includes(ASKED_KEY) === true ? { inputs: [KEY_INPUT] } : {}),
      servers: { holdfast: { type: "http", url: server.url, ...headersOf(server) } },
    }),
  },
  cursor: {
    variable: `\${env:${KEY_VARIABLE}}`,
    where: "`.cursor/mcp.json`",
    config: (server) => ({ mcpServers: { holdfast: { url: server.url, ...headersOf(server) } } }),
  },
  "openai-responses": {
    variable: `<${KEY_VARIABLE}>`,
    where: "`tools` of a request to OpenAI's Responses API, whose servers must reach the address",
    config: ({ url, authorization }) => [
      {
        type: "mcp",
        server_label: "holdfast",
        server_url: url,
        ...(authorization === undefined ? {} : { authorization: authorization.replace(/^Bearer /, "") }),
        require_approval: "never",
        allowed_tools: [
          "search",
          "read_document",
          "list_documents",
          "list_spaces",
          "list_agents",
          "ask_agent",
        ],
      },
    ],
  },
  "openai-agents": {
    variable: `{os.environ["${KEY_VARIABLE}"]}`,
    where: "a program with OpenAI's Agents SDK for Python",
    config: ({ url, authorization }) =>
      [
        "MCPServerStreamableHttp(",
        '    name="holdfast",',
        "    params={",
        `        "url": ${JSON.stringify(url)},`,
        ...(authorization === undefined
          ? []
          : [`        "headers": {"Authorization": f'${authorization}'},`]),
        "    },",
        ")",
      ].join("\n"),
  },
  json: {
    variable: `\${${KEY_VARIABLE}}`,
    where: "any other client",
    config: (server) => ({ transport: "streamable-http", url: server.url, ...headersOf(server) }),
  },
};

function noteOf({ asks }: ClientForm, { key, login }: Options): string {
  if (login === true) return ", which signs its user in";
  return asks === undefined || key !== undefined ? "" : `, ${asks}`;
}

export function addMcpConfigCommand(program: Command): void {
  program
    .command("mcp-config")
    .description(
      "print the configuration that connects a Model Context Protocol client to this service; the key " +
        `stays in the variable ${KEY_VARIABLE}`,
    )
    .addArgument(new Argument("<client>", "whose configuration").choices(Object.keys(CLIENTS)))
    .option("--url <url>", "the address of the service, without /mcp (default: PUBLIC_URL)")
    .option("--key <key>", "print this API key into the configuration")
    .option("--login", "use no key: the client signs its user in at the issuer")
    .action((name: string, options: Options) => {
      const form = CLIENTS[name]!;
      const { url, key, login } = options;
      if (key !== undefined && login === true)
        throw new CommandError("Use either --key or --login, not both.");
      const address = (url ?? loadConfig().api.publicUrl).replace(/\/$/, "");
      if (!URL.canParse(address))
        throw new CommandError("--url must be an address such as https://example.org.");
      const authorization = login === true ? undefined : `Bearer ${key ?? form.variable}`;
      const config = form.config({ url: `${address}/mcp`, authorization });
      process.stderr.write(`For ${form.where}${noteOf(form, options)}:\n`);
      printLine(typeof config === "string" ? config : JSON.stringify(config, null, 2));
    });
}
