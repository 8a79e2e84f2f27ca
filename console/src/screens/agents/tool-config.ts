/** What is wrong with the configuration of a tool, as far as a browser can say; the service says the rest. */

export type ConfigProblem =
  | { readonly kind: "not_json" | "hosts" | "server" }
  | { readonly kind: "unknown"; readonly name: string };

/** Tools whose configuration narrows what they reach; the others have none. */
export const CONFIGURED = ["http_fetch", "mcp"] as const;
export const TOOLS = [
  "knowledge_search",
  "read_document",
  "list_documents",
  "current_time",
  "calculator",
  ...CONFIGURED,
] as const;
export type Tool = (typeof TOOLS)[number];

const HOST = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i;
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  http_fetch: ["hosts"],
  mcp: ["server", "tools"],
};

/** An empty text is no configuration. */
export function readConfig(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export function problemOf(tool: string, text: string): ConfigProblem | undefined {
  const config = readConfig(text);
  if (config === undefined) return { kind: "not_json" };
  if (config === null) return undefined;
  const unknown = Object.keys(config).find((name) => !(KNOWN[tool] ?? []).includes(name));
  if (unknown !== undefined) return { kind: "unknown", name: unknown };
  const { hosts, server } = config;
  const areHosts = Array.isArray(hosts) && hosts.every((host) => typeof host === "string" && HOST.test(host));
  if (tool === "http_fetch" && !areHosts) return { kind: "hosts" };
  if (tool === "mcp" && (typeof server !== "string" || server === "")) return { kind: "server" };
  return undefined;
}
