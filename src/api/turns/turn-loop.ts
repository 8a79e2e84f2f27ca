/** The loop of a turn: search, model call, the tools it asks for, and again, within the turn's budget. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ContextWindow, fitContext } from "../../agents/context-window.ts";
import { PASSAGES_DEFAULT, searchKnowledge } from "../../agents/knowledge.ts";
import { requestDefaults } from "../../agents/model-request.ts";
import { type ProvenAnswer, proveCitations } from "../../agents/quotes/evidence.ts";
import type { MarkedQuote } from "../../agents/quotes/quoter.ts";
import { knowledgeScope } from "../../agents/reach.ts";
import { type Citation, type Sources, createSources } from "../../agents/sources.ts";
import type { Toolbox } from "../../agents/tools/index.ts";
import {
  assembleMessages,
  budgetNotice,
  lastCallMessage,
  presentSources,
  searchQuery,
  toolMessages,
} from "../../agents/turn.ts";
import { addUsage, countUsage, type Usage } from "../../agents/usage.ts";
import { DomainError } from "../../domain/errors.ts";
import {
  TOOL_ARGUMENTS_MAX_BYTES,
  TOOL_CALLS_MAX_PER_STEP,
  type Passage,
  type ToolCall,
  type ToolResult,
  exhaustedBudget,
} from "../../domain/work/turn.ts";
import type { ChatMessage, ToolDefinition } from "../../models/chat/chat-model.ts";
import { type AnswerWriter, createAnswerWriter } from "./answers/write.ts";
import { type ModelAnswer, callModel } from "./model-call.ts";
import { offeredTools, sortCalls } from "./response-ask.ts";
import {
  citedScope,
  overridesOf,
  searchStores,
  searchesStoresAhead,
  sourcesAhead,
  tooLong,
} from "./response-steps.ts";
import type { AnswerSink, Completed, ToolProgress, TurnDeps, TurnRequest } from "./turn.ts";

/** The end of an answer waits this long for the evidence of its citations. */
const EVIDENCE_MAX_MS = 1_000;

export type LoopStep =
  | { readonly type: "tools"; readonly calls: readonly ToolCall[] }
  | { readonly type: "answered"; readonly result: Completed };

export interface TurnLoop {
  /** How many messages of the history did not fit the model's context. */
  readonly droppedMessages: number;
  /** The search of a `rag` agent, then the first model call. */
  begin(): Promise<LoopStep>;
  /** The model call after tools. */
  goOn(results: readonly ToolResult[]): Promise<LoopStep>;
}

interface LoopInput {
  readonly turnId: string;
  readonly deps: Omit<TurnDeps, "apiProcessId" | "handOver">;
  readonly request: TurnRequest;
  readonly sink: AnswerSink;
  /** Ends model calls and searches. */
  readonly signal: AbortSignal;
}

export function createLoop(input: LoopInput): TurnLoop {
  return new Loop(input);
}

class Loop implements TurnLoop {
  droppedMessages = 0;
  readonly #input: LoopInput;
  readonly #startedAtMs = Date.now();
  readonly #sources: Sources;
  readonly #writer: AnswerWriter;
  readonly #window: ContextWindow;
  readonly #defaults: ReturnType<typeof requestDefaults>;
  #tools: readonly ToolDefinition[] = [];
  #messages: ChatMessage[] = [];
  /** The answer that asked for the tools whose results come next. */
  #asked: ModelAnswer | undefined;
  #usage: Usage = { prompt_tokens: 0, completion_tokens: 0 };
  #modelCalls = 0;
  #invalidRounds = 0;
  #searches = 0;
  /** What the searches of the last answer have found; its other tools may still run. */
  #searched: readonly ToolResult[] = [];
  /** The calls of the client's functions that end the turn. */
  #functionCalls: readonly ToolCall[] = [];

  constructor(input: LoopInput) {
    const { deps, request, sink } = input;
    this.#input = input;
    this.#sources = createSources(sink.shown);
    this.#writer = createAnswerWriter(sink, this.#sources, request.agent, deps.secondLook);
    this.#window = { tokens: deps.contextTokens, count: (text) => deps.model.countTokens(text) };
    this.#defaults = requestDefaults(request.agent, request.options, deps.model.name);
  }

  async begin(): Promise<LoopStep> {
    const { deps, request } = this.#input;
    this.#tools = offeredTools(request.ask, await deps.toolbox.definitions(request.agent));
    this.#messages = await firstMessages(this.#input, this.#sources);
    return this.#next();
  }

  async goOn(results: readonly ToolResult[]): Promise<LoopStep> {
    if (this.#asked === undefined) throw new Error("no tools were asked for");
    const all = [...this.#searched, ...results];
    this.#messages.push(...toolMessages(this.#input.request.agent, this.#sources, this.#asked, all));
    this.#input.sink.tools?.(endsOf(this.#asked.calls, results));
    if (all.some((result) => result.type === "invalid")) this.#invalidRounds += 1;
    return this.#functionCalls.length > 0 ? this.#answered("tool_calls", null) : this.#next();
  }

  async #next(): Promise<LoopStep> {
    const exhausted = this.#tools.length === 0 ? null : this.#exhaustedBudget();
    if (exhausted !== null) this.#messages.push(lastCallMessage(exhausted));
    const offered = exhausted === null ? this.#tools : [];
    const answer = await this.#call(offered);
    if (answer.calls.length === 0) return this.#answered(answer.reason, exhausted);
    if (offered.length === 0)
      return this.#answered("stop", exhausted ?? "the model asked for a tool where it has none");
    this.#asked = answer;
    const { functions, searches, own } = sortCalls(
      this.#input.request.ask,
      answer.calls.slice(0, TOOL_CALLS_MAX_PER_STEP),
    );
    this.#functionCalls = functions;
    this.#searched = await this.#search(searches);
    return own.length === 0 && this.#input.request.ask !== undefined ? this.goOn([]) : this.#askFor(own);
  }

  #askFor(calls: readonly ToolCall[]): LoopStep {
    this.#input.sink.tools?.(calls.map(({ id, name }) => ({ id, name, status: "running" })));
    return { type: "tools", calls: calls.map((call) => fitForPayload(call, this.#input.deps.toolbox)) };
  }

  /** Searches the stores, one call after the other, so that what they find is numbered in order. */
  async #search(calls: readonly ToolCall[]): Promise<ToolResult[]> {
    const results: ToolResult[] = [];
    for (const call of calls) {
      results.push(await searchStores(this.#input, call, this.#searches));
      this.#searches += 1;
    }
    return results;
  }

  #exhaustedBudget(): string | null {
    const used = {
      modelCalls: this.#modelCalls,
      tokens: this.#usage.prompt_tokens + this.#usage.completion_tokens,
      seconds: (Date.now() - this.#startedAtMs) / 1_000,
      invalidRounds: this.#invalidRounds,
    };
    return exhaustedBudget(used, this.#input.deps.budget);
  }

  async #call(offered: readonly ToolDefinition[]): Promise<ModelAnswer> {
    const { deps, request, sink, signal } = this.#input;
    const fitted = fitContext(this.#messages, offered, this.#defaults.max_tokens, this.#window);
    this.droppedMessages = fitted.dropped;
    if (fitted.dropped > 0 && request.ask?.mayTruncate === false) throw tooLong(deps.contextTokens);
    this.#modelCalls += 1;
    this.#writer.startPart();
    const tools = offered.length === 0 ? {} : { tools: offered };
    const retryUntilMs = this.#startedAtMs + deps.budget.seconds * 1_000;
    let streamed = "";
    const begun = (): void => {
      // What begins may be a tool call that fails: that has a status of its own if nothing was sent.
      if (offered.length === 0 || deps.canUseTools()) sink.begun();
    };
    const content = (text: string): Promise<void> | undefined => {
      streamed += text;
      sink.begun();
      return this.#writer.write(text);
    };
    try {
      const answer = await callModel(
        deps.model,
        {
          ...this.#defaults,
          ...overridesOf(request.ask, offered.length > 0, this.#modelCalls),
          messages: fitted.messages,
          ...tools,
        },
        { begun, waits: (error) => sink.waits?.(error), content },
        { signal, retryUntilMs },
      );
      this.#account(answer);
      return answer;
    } catch (error) {
      // The provider bills what it streamed before the call broke off.
      if (streamed !== "") this.#account({ text: streamed, usage: null });
      throw error;
    }
  }

  #account(answer: Pick<ModelAnswer, "text" | "usage" | "model">): void {
    const { turnId, deps, request } = this.#input;
    const usage = answer.usage ?? countUsage(this.#window.count, this.#messages, answer.text);
    const { prompt_tokens, completion_tokens } = usage;
    this.#usage = addUsage(this.#usage, usage);
    deps.ledger.call({
      turn_id: turnId,
      call_no: this.#modelCalls,
      organization_id: request.principal.organization.id,
      model: answer.model ?? this.#defaults.model,
      prompt_tokens,
      completion_tokens,
    });
  }

  async #answered(finishReason: string, notice: string | null): Promise<LoopStep> {
    this.#writer.startPart();
    if (notice !== null) await this.#writer.write(budgetNotice(notice));
    const { citations, quotes, removed } = await this.#writer.end();
    const proven = await provenAnswer(this.#input, citations, quotes);
    const removals = this.#input.request.agent.require_support ? { removedCitations: removed } : {};
    const calls = this.#functionCalls.length === 0 ? {} : { functionCalls: this.#functionCalls };
    return {
      type: "answered",
      result: { status: "completed", finishReason, usage: this.#usage, ...proven, ...removals, ...calls },
    };
  }
}

/** The citations with evidence. Without a database in time they have none: the answer has been sent. */
async function provenAnswer(
  { turnId, deps, request, signal }: LoopInput,
  citations: readonly Citation[],
  quotes: readonly MarkedQuote[],
): Promise<ProvenAnswer> {
  if (citations.length === 0) return { citations, marks: [] };
  const scope = citedScope(request);
  try {
    const late = sleep(EVIDENCE_MAX_MS, undefined, { ref: false, signal }).then(() => {
      throw new DomainError("database_unavailable", "The cited documents could not be read in time.");
    });
    const evidence = { db: deps.search.db, receipts: deps.receipts, log: deps.log };
    return await Promise.race([proveCitations(evidence, { scope, turnId }, citations, quotes), late]);
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ err: error, turn_id: turnId }, "an answer has no quotes and receipts");
    return { citations, marks: quotes.map(({ index, start, end }) => ({ index, start, end })) };
  }
}

async function firstMessages(input: LoopInput, sources: Sources): Promise<ChatMessage[]> {
  const { agent, messages, ask } = input.request;
  // A model that cannot ask for the stores that the request names answers from them alone.
  const isOwn = agent.agent_type === "rag" && !searchesStoresAhead(input);
  const found = isOwn ? await searchAhead(input) : await sourcesAhead(input);
  const presented = found && presentSources(agent, sources, found);
  return ask === undefined
    ? assembleMessages(agent, messages, presented)
    : [...assembleMessages(agent, [], presented), ...ask.history];
}

function searchAhead({ deps, request, signal }: LoopInput): Promise<Passage[]> {
  const { agent, principal, messages } = request;
  const scope = knowledgeScope(agent, principal.organization, principal.reach.values());
  return searchKnowledge(
    deps.search,
    scope,
    { text: searchQuery(messages), limit: PASSAGES_DEFAULT, neighbours: !deps.model.isLocal },
    signal,
  );
}

function endsOf(calls: readonly ToolCall[], results: readonly ToolResult[]): ToolProgress[] {
  return results.flatMap(({ id, type }) => {
    const call = calls.find((asked) => asked.id === id);
    const status = type === "error" || type === "invalid" ? "failed" : "done";
    return call === undefined ? [] : [{ id, name: call.name, status }];
  });
}

/** Leaves out arguments too large for a workflow's payload; the tool's activity tells the model. */
function fitForPayload({ id, name, arguments: text }: ToolCall, toolbox: Toolbox): ToolCall {
  const isTooLarge = text !== null && Buffer.byteLength(text) > TOOL_ARGUMENTS_MAX_BYTES;
  return { id, name, arguments: isTooLarge ? null : text, isNear: toolbox.isNear(name) };
}
