/** The tools that an agent may be given, and what their configuration has to be, as the service checks it. */
import type { Schemas } from "@holdfast/client";

export type Attachment = Schemas["ToolAttachment"];
export type ToolId = Schemas["AttachedTool"]["tool_id"];

export const TOOLS = [
  "knowledge_search",
  "read_document",
  "list_documents",
  "current_time",
  "calculator",
  "http_fetch",
  "mcp",
] as const satisfies readonly ToolId[];

export const MAX_TOOLS = 32;
const MAX_HOSTS = 100;
const MAX_HOST = 253;
const MAX_SERVER = 100;
const MAX_NAMES = 100;
const MAX_NAME = 200;
/** Names and IPv4 addresses; `*.` before a name means all its subdomains. */
const HOST = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i;

export type Problem =
  | { readonly code: "host"; readonly value: string }
  | { readonly code: "many"; readonly most: number }
  | { readonly code: "long"; readonly value: string; readonly most: number }
  | { readonly code: "hosts" }
  | { readonly code: "server" }
  | { readonly code: "unknown"; readonly value: string };

/** What is wrong with a tool's configuration, by its field; empty where the service would take it. */
export function problemsOf({ tool_id: toolId, config }: Attachment): Readonly<Record<string, Problem>> {
  if (config === null || config === undefined) return {};
  if (toolId === "http_fetch") return present({ ...strange(config, ["hosts"]), hosts: hostsProblem(config) });
  if (toolId === "mcp")
    return present({
      ...strange(config, ["server", "tools"]),
      server: serverProblem(config["server"]),
      tools: namesProblem(textsOf(config["tools"])),
    });
  return {};
}

/** The texts of a list; a list that is not there has none. */
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

function hostsProblem(config: Readonly<Record<string, unknown>>): Problem | undefined {
  if (!Array.isArray(config["hosts"])) return { code: "hosts" };
  const hosts = textsOf(config["hosts"]);
  if (hosts.length > MAX_HOSTS) return { code: "many", most: MAX_HOSTS };
  const wrong = hosts.find((host) => host.length > MAX_HOST || !HOST.test(host));
  return wrong === undefined ? undefined : { code: "host", value: wrong };
}

function serverProblem(server: unknown): Problem | undefined {
  if (typeof server !== "string" || server === "") return { code: "server" };
  return server.length > MAX_SERVER ? { code: "long", value: server, most: MAX_SERVER } : undefined;
}

function namesProblem(names: readonly string[]): Problem | undefined {
  if (names.length > MAX_NAMES) return { code: "many", most: MAX_NAMES };
  const long = names.find((name) => name.length > MAX_NAME);
  return long === undefined ? undefined : { code: "long", value: long, most: MAX_NAME };
}

function strange(config: object, known: readonly string[]): Record<string, Problem> {
  const other = Object.keys(config).find((key) => !known.includes(key));
  return other === undefined ? {} : { config: { code: "unknown", value: other } };
}

const present = (problems: Readonly<Record<string, Problem | undefined>>): Record<string, Problem> =>
  Object.fromEntries(
    Object.entries(problems).filter((entry): entry is [string, Problem] => entry[1] !== undefined),
  );

export const hasProblem = (tools: readonly Attachment[]): boolean =>
  tools.some((tool) => Object.keys(problemsOf(tool)).length > 0);
