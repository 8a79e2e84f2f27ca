/** The activity that runs one tool of a turn, with the rights that its caller has at that moment. */
import { Context } from "@temporalio/activity";
import { knowledgeScope } from "../agents/reach.ts";
import type { Toolbox } from "../agents/tools/index.ts";
import type { ToolOutput } from "../agents/tools/tool.ts";
import { appendAuditRows, auditRow } from "../db/audit/append.ts";
import { type Agent, findAgentAndReach } from "../db/turns/agents-in-chat.ts";
import { inTenant } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import { type OpenedContent, OPENING } from "../domain/tenancy/opened-content.ts";
import type { ReachedSpace } from "../domain/tenancy/principal.ts";
import type { Passage, ToolCall, ToolResult } from "../domain/work/turn.ts";
import type { SearchDeps } from "../search/hybrid.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import type { ToolCaller } from "../domain/work/chat-workflows.ts";
import { withHeartbeat } from "./heartbeat.ts";

interface RunToolInput {
  readonly turnId: string;
  readonly caller: ToolCaller;
  readonly call: ToolCall;
  readonly maxBytes: number;
}

export interface ToolActivities {
  runTool(input: RunToolInput): Promise<ToolResult>;
}

/** A person waits. Shorter than the activity's time-out: the model gets an error instead of a retry. */
const TOOL_TIMEOUT_MS = 25_000;

export interface ToolDeps extends SearchDeps {
  readonly toolbox: Toolbox;
  readonly toolTimeoutMs?: number;
  /** Whether a provider's model answers, so that passages may bring what stands beside them. */
  readonly isModelProvided: boolean;
  /** The signal of a turn in this process's memory. */
  readonly abortedSignal?: (turnId: string) => AbortSignal | undefined;
}

export function createToolActivities(deps: ToolDeps): ToolActivities {
  return {
    async runTool(input) {
      const { cancellationSignal } = Context.current();
      const turnAborted = deps.abortedSignal?.(input.turnId);
      const stop =
        turnAborted === undefined ? cancellationSignal : AbortSignal.any([cancellationSignal, turnAborted]);
      try {
        return await withHeartbeat(() =>
          withinTime(deps.toolTimeoutMs ?? TOOL_TIMEOUT_MS, stop, (signal) => run(deps, input, signal)),
        );
      } catch (error) {
        // Nobody reads the result any more, and no other tool is to run.
        if (turnAborted?.aborted)
          return { id: input.call.id, type: "error", text: "The turn was cancelled." };
        if (error instanceof DomainError && error.code === "invalid")
          return { id: input.call.id, type: "invalid", text: error.message };
        throw error;
      }
    },
  };
}

/** Stops waiting for `work` after `timeoutMs` or a cancel, even if it ignores its signal. */
async function withinTime<T>(
  timeoutMs: number,
  cancelled: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const late = Promise.withResolvers<never>();
  const cancel = (): void => late.reject(cancelled.reason);
  if (cancelled.aborted) cancel();
  cancelled.addEventListener("abort", cancel, { once: true });
  const timer = setTimeout(() => {
    late.reject(new DomainError("bad_request", "The tool did not answer in time."));
    timeout.abort();
  }, timeoutMs);
  try {
    return await Promise.race([work(AbortSignal.any([cancelled, timeout.signal])), late.promise]);
  } finally {
    clearTimeout(timer);
    cancelled.removeEventListener("abort", cancel);
  }
}

async function run(
  deps: ToolDeps,
  { caller, call, maxBytes }: RunToolInput,
  signal: AbortSignal,
): Promise<ToolResult> {
  const found = await inTenant(deps.db, caller.organization, (sql) =>
    findAgentAndReach(sql, caller.agentId, caller.userId, caller.apiKeyId),
  );
  if (!found) throw new DomainError("not_found", "The agent is no longer available.");
  await drillPoint("chatTurn: tool in hand");
  const output = await callTool(deps, { ...found, caller, call }, signal);
  await drillPoint("chatTurn: tool answered, workflow not told");
  return { id: call.id, ...bounded(output, maxBytes) };
}

interface FoundCall {
  readonly agent: Agent;
  readonly spaces: readonly ReachedSpace[];
  readonly caller: ToolCaller;
  readonly call: ToolCall;
}

async function callTool(
  deps: ToolDeps,
  { agent, spaces, caller, call }: FoundCall,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const found = await deps.toolbox.find(agent, call.name);
  if (!found)
    throw new DomainError("invalid", `There is no tool named ${JSON.stringify(call.name.slice(0, 100))}.`);
  const scope = knowledgeScope(agent, caller.organization, spaces);
  const context = {
    deps,
    scope,
    config: found.config,
    neighbours: deps.isModelProvided,
    opened: (content: OpenedContent) => recordOpened(deps, caller, content),
  };
  return found.tool.run(context, parseArguments(call.arguments), signal);
}

/** The turn's own row has the id of its request; this one has none. */
async function recordOpened(
  { db }: Pick<ToolDeps, "db">,
  { organization, userId, apiKeyId }: ToolCaller,
  { type, id, spaceId }: OpenedContent,
): Promise<void> {
  const authMethod = apiKeyId === null ? "jwt" : "api_key";
  const entry = {
    action: OPENING[type],
    resource_type: type,
    resource_id: id,
    space_id: spaceId,
    request_id: null,
    outcome: "success",
  } as const;
  await appendAuditRows(db, [
    auditRow({ authMethod, apiKeyId, organization, user: { id: userId } }, entry, new Date()),
  ]);
}

function parseArguments(text: string | null): unknown {
  if (text === null) throw new DomainError("invalid", "The arguments are too large.");
  try {
    return JSON.parse(text.trim() === "" ? "{}" : text);
  } catch {
    throw new DomainError("invalid", "The arguments are not valid JSON.");
  }
}

/** An id in JSON, with its quotes and comma. */
const ID_BYTES = 39;
const CUT_NOTE = "\n(cut here: the result is longer than a tool may return)";

/**
 * Cuts a tool's output to `maxBytes` of UTF-8: text at its end; passages by dropping their neighbouring text
 * first, then the last passages.
 */
function bounded(output: ToolOutput, maxBytes: number): ToolOutput {
  if (output.type !== "passages") {
    const documentIds = output.type === "text" ? (output.documentIds ?? []) : [];
    const room = maxBytes - documentIds.length * ID_BYTES;
    if (Buffer.byteLength(output.text) <= room) return output;
    return { ...output, text: cut(output.text, room - CUT_NOTE.length) + CUT_NOTE };
  }
  const bytesOf = (passage: Passage): number => Buffer.byteLength(JSON.stringify(passage));
  if (output.passages.reduce((sum, passage) => sum + bytesOf(passage), 0) <= maxBytes) return output;
  let left = maxBytes;
  const bare = output.passages.map(({ context: _context, ...passage }): Passage => passage);
  const passages = bare.flatMap((passage): Passage[] => {
    left -= bytesOf(passage);
    return left < 0 ? [] : [passage];
  });
  const first = bare[0];
  if (passages.length > 0 || !first) return { type: "passages", passages };
  return { type: "passages", passages: [{ ...first, text: cut(first.text, Math.floor(maxBytes / 2)) }] };
}

/** The beginning of `text` that fits `maxBytes`, without a broken character at its end. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  return new TextDecoder().decode(bytes, { stream: true });
}
