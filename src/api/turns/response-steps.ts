/** The steps of a turn's loop that only responses have. */
import { fitPassages, toPassage, withinBounds } from "../../agents/knowledge.ts";
import { type KnowledgeScope, knowledgeScope } from "../../agents/reach.ts";
import { searchQuery } from "../../agents/turn.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Passage, ToolCall, ToolResult } from "../../domain/work/turn.ts";
import type { ChatRequest } from "../../models/chat/chat-model.ts";
import { type ResponseAsk, queriesOf } from "./response-ask.ts";
import type { AnswerSink, TurnDeps, TurnRequest } from "./turn.ts";

interface StepInput {
  readonly deps: Pick<TurnDeps, "model" | "search">;
  readonly request: TurnRequest;
  readonly sink: AnswerSink;
  readonly signal: AbortSignal;
}

/** Runs a search that the model asks for. `before` counts those that the turn has made. */
export async function searchStores(
  { deps, request, sink, signal }: StepInput,
  call: ToolCall,
  before: number,
): Promise<ToolResult> {
  const { fileSearch, maxToolCalls = Infinity } = request.ask ?? {};
  const queries = queriesOf(call.arguments);
  if (fileSearch === undefined || queries.length === 0)
    return { id: call.id, type: "invalid", text: "The call has no queries." };
  if (before >= maxToolCalls)
    return { id: call.id, type: "error", text: "No further search is allowed: answer with what you know." };
  sink.search?.({ callId: call.id, queries });
  const hits = await fileSearch.search(queries, signal);
  sink.search?.({ callId: call.id, queries, hits });
  const { organization, reach } = request.principal;
  const scope = { organization, spaces: [...reach.values()] };
  const passages = await fitPassages(deps.search.db, scope, hits.map(toPassage), !deps.model.isLocal);
  return { id: call.id, type: "passages", passages };
}

/**
 * What a response has of sources before its first call of the model: what those before it have found, and for
 * a model that cannot ask for tools a search for the last message of the user. Null if it has none.
 */
export async function sourcesAhead(input: StepInput): Promise<Passage[] | null> {
  const { ask } = input.request;
  if (ask === undefined) return null;
  const ahead = await searchStoresAhead(input);
  if (ahead === null && ask.found.length === 0) return null;
  return withinBounds([...(ahead ?? []), ...ask.found]);
}

/** Whether the stores are searched before the model's first call, since it cannot ask for that. */
export function searchesStoresAhead({ deps, request }: Pick<StepInput, "deps" | "request">): boolean {
  return deps.model.isLocal && request.ask?.fileSearch !== undefined && request.ask.toolChoice !== "none";
}

async function searchStoresAhead(input: StepInput): Promise<Passage[] | null> {
  if (!searchesStoresAhead(input)) return null;
  const query = searchQuery(input.request.messages);
  const call = { id: "ahead", name: "file_search", arguments: JSON.stringify({ queries: [query] }) };
  const found = await searchStores(input, call, 0);
  return found.type === "passages" ? [...found.passages] : null;
}

/** The fields of a model call that chat does not send. */
export function overridesOf(
  ask: ResponseAsk | undefined,
  hasTools: boolean,
  callNo: number,
): Pick<ChatRequest, "reasoning" | "more" | "isExact"> {
  if (ask === undefined) return {};
  const { more, ...rest } = ask.overrides;
  const { parallel_tool_calls: parallel, ...others } = more ?? {};
  if (!hasTools) return { ...rest, more: others };
  // A choice that made the model call a tool would make it call tools for ever.
  const choice = callNo === 1 || ask.toolChoice === "none" ? ask.toolChoice : undefined;
  return {
    ...rest,
    more: {
      ...others,
      ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
      ...(choice === undefined ? {} : { tool_choice: choice }),
    },
  };
}

/** Where a turn's passages may be from: what a response's own search found is within the caller's reach. */
export function citedScope({ agent, principal, ask }: TurnRequest): KnowledgeScope {
  if (ask?.fileSearch === undefined && (ask?.found.length ?? 0) === 0)
    return knowledgeScope(agent, principal.organization, principal.reach.values());
  return { organization: principal.organization, spaces: [...principal.reach.values()], folderIds: null };
}

export function tooLong(contextTokens: number): DomainError {
  return new DomainError(
    "context_length_exceeded",
    `The conversation does not fit the model's context of ${contextTokens} tokens; ` +
      "`truncation: auto` leaves out its oldest messages.",
    { param: "input" },
  );
}
