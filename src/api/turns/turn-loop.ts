/** The only place with the loop of a turn: search, model call, tools asked for, and again, within its budget. */
import { fitContext } from "../../agents/context-window.ts";
import { PASSAGES_DEFAULT, searchKnowledge } from "../../agents/knowledge.ts";
import { requestDefaults } from "../../agents/model-request.ts";
import { knowledgeScope } from "../../agents/reach.ts";
import { type Sources, createSources } from "../../agents/sources.ts";
import {
  assembleMessages,
  budgetNotice,
  lastCallMessage,
  presentSources,
  searchQuery,
  toolMessages,
} from "../../agents/turn.ts";
import { addUsage, countUsage } from "../../agents/usage.ts";
import {
  TOOL_ARGUMENTS_MAX_BYTES,
  TOOL_CALLS_MAX_PER_STEP,
  type Passage,
  type ToolCall,
  type ToolResult,
  exhaustedBudget,
} from "../../domain/work/turn.ts";
import type { Toolbox } from "../../agents/tools/index.ts";
import type { ChatMessage, ToolDefinition } from "../../models/chat/chat-model.ts";
import type { SearchDeps } from "../../search/hybrid.ts";
import { createAnswerWriter } from "./answers/write.ts";
import { type ModelAnswer, callModel } from "./model-call.ts";
import type { AnswerSink, Completed, TurnDeps, TurnRequest } from "./turn.ts";

export type LoopStep =
  | { readonly type: "tools"; readonly calls: readonly ToolCall[] }
  | { readonly type: "answered"; readonly result: Completed };

export interface TurnLoop {
  /** Messages of the history that did not fit the model's context. */
  droppedMessages(): number;
  /** The search of a `rag` agent, then the first model call. */
  begin(): Promise<LoopStep>;
  /** The model call after tools. */
  goOn(results: readonly ToolResult[]): Promise<LoopStep>;
}

interface LoopInput {
  readonly turnId: string;
  readonly deps: Pick<TurnDeps, "model" | "search" | "toolbox" | "ledger" | "contextTokens" | "budget">;
  readonly request: TurnRequest;
  readonly sink: AnswerSink;
  readonly signal: AbortSignal;
}

export function createLoop({ turnId, deps, request, sink, signal }: LoopInput): TurnLoop {
  const { agent, principal, options } = request;
  const { budget } = deps;
  const startedAtMs = Date.now();
  const retryUntilMs = startedAtMs + budget.seconds * 1_000;
  const sources = createSources(sink.shown);
  const writer = createAnswerWriter(sink, sources, agent.show_citations);
  const window = { tokens: deps.contextTokens, count: (text: string) => deps.model.countTokens(text) };
  const defaults = requestDefaults(agent, options, deps.model.name);
  let [tools, messages]: [readonly ToolDefinition[], ChatMessage[]] = [[], []];
  let asked: ModelAnswer | undefined;
  let usage = { prompt_tokens: 0, completion_tokens: 0 };
  let [modelCalls, invalidRounds, droppedMessages] = [0, 0, 0];

  const account = (answer: Pick<ModelAnswer, "text" | "usage" | "model">): void => {
    const { prompt_tokens, completion_tokens } =
      answer.usage ?? countUsage(window.count, messages, answer.text);
    usage = addUsage(usage, { prompt_tokens, completion_tokens });
    deps.ledger.call({
      turn_id: turnId,
      call_no: modelCalls,
      organization_id: principal.organization.id,
      model: answer.model ?? defaults.model,
      prompt_tokens,
      completion_tokens,
    });
  };
  const call = async (offered: readonly ToolDefinition[]): Promise<ModelAnswer> => {
    let streamed = "";
    const fitted = fitContext(messages, offered, defaults.max_tokens, window);
    droppedMessages = fitted.dropped;
    modelCalls += 1;
    writer.startPart();
    const content = (text: string): Promise<void> | undefined => ((streamed += text), writer.write(text));
    try {
      const answer = await callModel(
        deps.model,
        { ...defaults, messages: fitted.messages, ...(offered.length === 0 ? {} : { tools: offered }) },
        { begun: sink.begun, content },
        { signal, retryUntilMs },
      );
      account(answer);
      return answer;
    } catch (error) {
      // What was streamed before it broke off was paid for.
      if (streamed !== "") account({ text: streamed, usage: null });
      throw error;
    }
  };
  const answered = async (finishReason: string, notice: string | null): Promise<LoopStep> => {
    writer.startPart();
    if (notice !== null) await writer.write(budgetNotice(notice));
    return {
      type: "answered",
      result: { status: "completed", finishReason, usage, citations: await writer.end() },
    };
  };
  const next = async (): Promise<LoopStep> => {
    const used = {
      modelCalls,
      tokens: usage.prompt_tokens + usage.completion_tokens,
      seconds: (Date.now() - startedAtMs) / 1_000,
      invalidRounds,
    };
    const exhausted = tools.length === 0 ? null : exhaustedBudget(used, budget);
    if (exhausted !== null) messages.push(lastCallMessage(exhausted));
    const offered = exhausted === null ? tools : [];
    const answer = await call(offered);
    if (answer.calls.length === 0) return answered(answer.reason, exhausted);
    if (offered.length === 0)
      return answered("stop", exhausted ?? "the model asked for a tool where it has none");
    asked = answer;
    return {
      type: "tools",
      calls: answer.calls.slice(0, TOOL_CALLS_MAX_PER_STEP).map((call) => carriable(call, deps.toolbox)),
    };
  };

  return {
    droppedMessages: () => droppedMessages,
    async begin() {
      tools = await deps.toolbox.definitions(agent);
      messages = await firstMessages(request, sources, deps.search, signal);
      return next();
    },
    async goOn(results) {
      if (asked === undefined) throw new Error("no tools were asked for");
      messages.push(...toolMessages(agent, sources, asked, results));
      if (results.some((result) => result.type === "invalid")) invalidRounds += 1;
      return next();
    },
  };
}

async function firstMessages(
  request: TurnRequest,
  sources: Sources,
  search: SearchDeps,
  signal: AbortSignal,
): Promise<ChatMessage[]> {
  const { agent, messages } = request;
  const found = agent.agent_type === "rag" ? await searchAhead(request, search, signal) : null;
  return assembleMessages(agent, messages, found && presentSources(agent, sources, found));
}

function searchAhead(
  { agent, principal, messages }: TurnRequest,
  search: SearchDeps,
  signal: AbortSignal,
): Promise<Passage[]> {
  const scope = knowledgeScope(agent, principal.organization, principal.reach.values());
  return searchKnowledge(search, scope, { text: searchQuery(messages), limit: PASSAGES_DEFAULT }, signal);
}

/** Arguments too large for a payload stay here; the tool's activity says so to the model. */
function carriable({ id, name, arguments: text }: ToolCall, toolbox: Toolbox): ToolCall {
  const isTooLarge = text !== null && Buffer.byteLength(text) > TOOL_ARGUMENTS_MAX_BYTES;
  return { id, name, arguments: isTooLarge ? null : text, isNear: toolbox.isNear(name) };
}
