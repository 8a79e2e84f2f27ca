/**
 * Contract of what an agent's `config` may say to a tool. A config narrows what the tool reaches, so that one that is not understood must
 * never count as none: it is refused when the agent is saved, and by the tool itself where it was saved before.
 */
import { z } from "zod";

const MAX_HOSTS = 100;
const MAX_TOOLS = 100;
/** Names and IPv4 addresses; `*.` before a name means all below it. */
const HOST = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i;

/** Without it every host that the operator allows; an empty list allows none, and what is no host allows nothing. */
export const HttpFetchConfig = z.strictObject({ hosts: z.array(z.string()) });

/** Names a server that the operator set up; `tools`, where given, are the only ones of it. */
export const McpConfig = z.strictObject({
  server: z.string().min(1).max(100),
  tools: z.array(z.string().max(200)).max(MAX_TOOLS).nullish(),
});

const Host = z
  .string()
  .max(253)
  .regex(HOST, "must be a host such as example.org, or *.example.org for all below it");

/** What may be saved, by tool; the tools that are not in it take no notice of a config. */
const SAVED = new Map<string, z.ZodType>([
  ["http_fetch", HttpFetchConfig.extend({ hosts: z.array(Host).max(MAX_HOSTS) })],
  ["mcp", McpConfig],
]);

/** Adds what is wrong with the `config` of a tool attachment, at its place in it. No config is right for every tool. */
export function checkToolConfig(
  { tool_id, config }: { readonly tool_id: string; readonly config?: unknown },
  context: z.RefinementCtx,
): void {
  if (config === null || config === undefined) return;
  const checked = SAVED.get(tool_id)?.safeParse(config, { reportInput: true });
  for (const issue of checked?.error?.issues ?? [])
    context.issues.push({ ...issue, path: ["config", ...issue.path] } as z.core.$ZodRawIssue);
}
