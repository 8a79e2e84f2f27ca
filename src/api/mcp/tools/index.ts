/** The tools, whom they are shown to, and what becomes of a call. */
import { z } from "zod";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { DomainError } from "../../../domain/errors.ts";
import { ValidationProblems, valueError } from "../../../schema/requests/problem.ts";
import { tellUnknownKeys } from "../../validation/suggestion.ts";
import { type McpCall, noteRefusal } from "../call.ts";
import { failureOf, pathsOf, RPC_CODES, RpcError } from "../rpc-error.ts";
import { askAgentTool } from "./ask-agent.ts";
import { listAgentsTool } from "./list-agents.ts";
import { listDocumentsTool, listSpacesTool, readDocumentTool, searchTool } from "./reading.ts";
import type { McpTool } from "./tool.ts";
import { deleteDocumentTool, reprocessDocumentTool, uploadDocumentTool } from "./writing.ts";

const TOOLS: readonly McpTool[] = [
  searchTool,
  readDocumentTool,
  listDocumentsTool,
  listSpacesTool,
  listAgentsTool,
  askAgentTool,
  uploadDocumentTool,
  reprocessDocumentTool,
  deleteDocumentTool,
];

/** What the audit log calls a call that is refused before its tool runs. */
const USE = { action: "mcp:use", resource: "tool", id: null } as const;

const toolNamed = (name: string): McpTool | undefined => TOOLS.find((one) => one.name === name);

/** Undefined if there is none, or the caller's key lacks its capability. */
export function findTool({ capabilities }: Principal, name: string): McpTool | undefined {
  const tool = toolNamed(name);
  return tool !== undefined && capabilities.has(tool.capability) ? tool : undefined;
}

export const isToolName = (name: string): boolean => toolNamed(name) !== undefined;

/** Those that change something are shown where the caller may write in some space. */
export function shownTools(principal: Principal): McpTool["shown"][] {
  const mayWrite = [...principal.reach.values()].some(({ role }) => role !== "viewer");
  return TOOLS.filter(
    ({ name, capability }) => findTool(principal, name) !== undefined && (capability !== "write" || mayWrite),
  ).map(({ shown }) => shown);
}

/**
 * Runs a tool. What fails is told to the model as the tool's answer, so that it can do something else.
 * @throws RpcError for a tool that does not exist, or not for the caller's key
 */
export async function callTool(call: McpCall, name: string, args: unknown) {
  const tool = findTool(call.principal, name);
  if (tool === undefined) throw refusalOf(call, name);
  const parsed = tool.input.safeParse(args ?? {}, { error: tellUnknownKeys });
  if (!parsed.success) {
    noteRefusal(call, USE, problemsOf(parsed.error));
    return failed(`Invalid arguments: ${pathsOf(parsed.error)}`, "invalid", 422);
  }
  try {
    const answer = (await tool.run(call, parsed.data)) as Record<string, unknown>;
    return {
      content: [{ type: "text" as const, text: JSON.stringify(answer) }],
      structuredContent: answer,
    };
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof RpcError) return failed(error.message, "invalid", 422);
    // A tool whose answer does not fit its schema is a defect.
    const failure = error instanceof z.ZodError ? undefined : failureOf(error);
    if (failure !== undefined) return failed(failure.message, failure.code, failure.status);
    call.deps.log.error({ request_id: call.request.id, err: error }, "a tool failed unexpectedly");
    return failed("Internal error", "internal", 500);
  }
}

/** What tools there are is no secret: whoever lacks a capability is told which. */
function refusalOf(call: McpCall, name: string): RpcError {
  const tool = toolNamed(name);
  if (tool === undefined) return new RpcError(RPC_CODES.invalidParams, "Unknown tool");
  const message = `Permission denied: the tool ${name} needs an API key with the capability ${tool.capability}`;
  const refusal = new DomainError("key_out_of_scope", message);
  noteRefusal(call, USE, refusal);
  return new RpcError(RPC_CODES.invalidParams, message, { code: refusal.reason, status: refusal.status });
}

/** Without fields that are missing, and those of another type: an id is a text. */
function problemsOf({ issues }: z.ZodError): ValidationProblems {
  const wrong = issues.filter(({ code }) => code !== "invalid_type");
  return new ValidationProblems(wrong.map(({ path, message }) => valueError(path.map(String), message)));
}

function failed(message: string, code: string, status: number) {
  return {
    isError: true,
    content: [{ type: "text" as const, text: message }],
    _meta: { "holdfast/error": { code, status } },
  };
}
