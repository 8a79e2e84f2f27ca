/** The only place with the loop of a turn: search, model call, tools asked for, and again, within its budget. */
import { createCitationFilter } from "../../agents/citations.ts";
import { PASSAGES_DEFAULT, searchKnowledge } from "../../agents/knowledge.ts";
import { requestDefaults } from "../../agents/model-request.ts";
import { knowledgeScope } from "../../agents/reach.ts";
import { createSources } from "../../agents/sources.ts";
import { toolDefinitions } from "../../agents/tools/index.ts";
import { assembleMessages, budgetNotice, lastCallMessage, presentSources, searchQuery, toolMessages } from "../../agents/turn.ts";
import { addUsage, countUsage } from "../../agents/usage.ts";
import { TOOL_ARGUMENTS_MAX_BYTES, TOOL_CALLS_MAX_PER_STEP, TURN_BUDGET, type ToolCall, type ToolResult, exhaustedBudget } from "../../domain/turn.ts";
import type { ChatMessage, ToolDefinition } from "../../models/chat-model.ts";
import { type ModelAnswer, callModel } from "./model-call.ts";
import type { AnswerSink, Completed, TurnDeps, TurnRequest } from "./turn.ts";

export type LoopStep = { readonly type: "tools"; readonly calls: readonly ToolCall[] } | { readonly type: "answered"; readonly result: Completed };

export interface TurnLoop {
  /** The search of a `rag` agent, then the first model call. */
  begin(): Promise<LoopStep>;
  /** The model call after tools. */
  goOn(results: readonly ToolResult[]): Promise<LoopStep>;
}

interface LoopInput {
  readonly turnId: string;
  readonly deps: Pick<TurnDeps, "model" | "search" | "ledger">;
  readonly request: TurnRequest;
  readonly sink: AnswerSink;
  readonly signal: AbortSignal;
}

export function createLoop({ turnId, deps, request, sink, signal }: LoopInput): TurnLoop {
  const { agent, principal, options, budget = TURN_BUDGET } = request;
  const startedAtMs = Date.now();
  const sources = createSources();
  const filter = createCitationFilter(sources);
  const tools = toolDefinitions(agent);
  const defaults = requestDefaults(agent, options, deps.model.name);
  let messages: ChatMessage[] = [];
  let asked: ModelAnswer | undefined;
  let usage = { prompt_tokens: 0, completion_tokens: 0 };
  let [modelCalls, invalidRounds, hasText] = [0, 0, false];

  const write = (text: string): Promise<void> | undefined => {
    const shown = agent.show_citations ? filter.write(text) : text;
    return shown === "" ? undefined : sink.content(shown);
  };
  /** Text of a later call starts a paragraph of its own. */
  const writer = () => {
    let isFirst = true;
    return (text: string): Promise<void> | undefined => {
      const joint = isFirst && hasText ? "\n\n" : "";
      if (text !== "") [isFirst, hasText] = [false, true];
      return write(joint + text);
    };
  };
  const account = (answer: Pick<ModelAnswer, "text" | "usage">): void => {
    const { prompt_tokens, completion_tokens } = answer.usage ?? countUsage(deps.model.countTokens, messages, answer.text);
    usage = addUsage(usage, { prompt_tokens, completion_tokens });
    deps.ledger.call({ turn_id: turnId, call_no: modelCalls, organization_id: principal.organization.id, model: defaults.model, prompt_tokens, completion_tokens });
  };
  const call = async (offered: readonly ToolDefinition[]): Promise<ModelAnswer> => {
    const content = writer();
    let partial = "";
    modelCalls += 1;
    const listener = {
      begun: sink.begun,
      content: (text: string) => {
        partial += text;
        return content(text);
      },
    };
    try {
      const answer = await callModel(deps.model, { ...defaults, messages: [...messages], ...(offered.length === 0 ? {} : { tools: offered }) }, listener, signal);
      account(answer);
      return answer;
    } catch (error) {
      // What was streamed before it broke off was paid for.
      if (partial !== "") account({ text: partial, usage: null });
      throw error;
    }
  };
  const answered = async (reason: string, notice: string | null): Promise<LoopStep> => {
    if (notice !== null) await writer()(budgetNotice(notice));
    const rest = agent.show_citations ? filter.end() : "";
    if (rest !== "") await sink.content(rest);
    return { type: "answered", result: { status: "completed", finishReason: reason, usage, citations: filter.cited() } };
  };
  const next = async (): Promise<LoopStep> => {
    const seconds = (Date.now() - startedAtMs) / 1_000;
    const exhausted = tools.length === 0 ? null : exhaustedBudget({ modelCalls, tokens: usage.prompt_tokens + usage.completion_tokens, seconds, invalidRounds }, budget);
    if (exhausted !== null) messages.push(lastCallMessage(exhausted));
    const offered = exhausted === null ? tools : [];
    const answer = await call(offered);
    if (answer.calls.length === 0) return answered(answer.reason, exhausted);
    if (offered.length === 0) return answered("stop", exhausted ?? "the model asked for a tool where it has none");
    asked = answer;
    return { type: "tools", calls: answer.calls.slice(0, TOOL_CALLS_MAX_PER_STEP).map(carriable) };
  };

  return {
    async begin() {
      let found: string | null = null;
      if (agent.agent_type === "rag") {
        const scope = knowledgeScope(agent, principal.organization, principal.reach.values());
        const query = { text: searchQuery(request.messages), limit: PASSAGES_DEFAULT };
        found = presentSources(agent, sources, await searchKnowledge(deps.search, scope, query, signal));
      }
      messages = assembleMessages(agent, request.messages, found);
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

/** Arguments too large for a payload stay here; the tool's activity says so to the model. */
function carriable(call: ToolCall): ToolCall {
  return call.arguments !== null && Buffer.byteLength(call.arguments) > TOOL_ARGUMENTS_MAX_BYTES ? { ...call, arguments: null } : call;
}
