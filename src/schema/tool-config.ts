/**
 * The contract of the `config` that an agent gives a tool. A config narrows what the tool reaches, so one
 * that is not understood must never count as none: it is refused when the agent is saved, and the tool
 * refuses one that was saved by an earlier version.
 */
import { z } from "zod";

const MAX_HOSTS = 100;
const MAX_TOOLS = 100;
/** Names and IPv4 addresses; `*.` before a name means all its subdomains. */
const HOST = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i;

/**
 * Without a config the tool reaches every host that the operator allows. An empty list allows none, and an
 * entry that is not a host name matches nothing.
 */
export const HttpFetchConfig = z.strictObject({ hosts: z.array(z.string()) });

/** Names a server that the operator set up; `tools` narrows it to some of its tools. */
export const McpConfig = z.strictObject({
  server: z.string().min(1).max(100),
  tools: z.array(z.string().max(200)).max(MAX_TOOLS).nullish(),
});

const Host = z
  .string()
  .max(253)
  .regex(HOST, "must be a host such as example.org, or *.example.org for all below it");

/** What may be saved, by tool. Tools that are not listed ignore their config. */
const SAVED = new Map<string, z.ZodType>([
  ["http_fetch", HttpFetchConfig.extend({ hosts: z.array(Host).max(MAX_HOSTS) })],
  ["mcp", McpConfig],
]);

/** Adds what is wrong with a tool attachment's `config` to `context`. Every tool accepts an absent one. */
export function checkToolConfig(
  { tool_id, config }: { readonly tool_id: string; readonly config?: unknown },
  context: z.RefinementCtx,
): void {
  if (config === null || config === undefined) return;
  const checked = SAVED.get(tool_id)?.safeParse(config, { reportInput: true });
  for (const issue of checked?.error?.issues ?? [])
    context.issues.push({ ...issue, path: ["config", ...issue.path] } as z.core.$ZodRawIssue);
}
