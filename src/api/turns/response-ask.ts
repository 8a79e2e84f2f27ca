/** What a response asks of its turn beyond what chat does: the client's tools, stores to search, sampling. */
import type { Passage, ToolCall } from "../../domain/work/turn.ts";
import type { ChatMessage, ChatRequest, ToolDefinition } from "../../models/chat/chat-model.ts";
import type { SearchHit } from "../../search/hybrid.ts";

export interface ResponseAsk {
  /** The whole conversation, oldest first, with the instructions: the model reads it, not `messages`. */
  readonly history: readonly ChatMessage[];
  /** What searches of the responses before have found: sources that the model may still cite. */
  readonly found: readonly Passage[];
  /** Functions of the client, whose calls end the turn. */
  readonly functions: readonly ToolDefinition[];
  readonly fileSearch: FileSearch | undefined;
  /** The tools that the model may use; undefined: all of them. */
  readonly allowed: ReadonlySet<string> | undefined;
  /** As the provider takes it, for the first call of the model; undefined: the provider decides. */
  readonly toolChoice: unknown;
  /** Fields of every call of the model. */
  readonly overrides: Pick<ChatRequest, "reasoning" | "more" | "isExact">;
  /** Whether messages may be left out that do not fit the model's context. */
  readonly mayTruncate: boolean;
  /** How many searches the turn may make; undefined: as many as its budget allows. */
  readonly maxToolCalls: number | undefined;
}

export interface FoundHit extends SearchHit {
  /** A UUID: the document's, or that of the file that it was made of. */
  readonly fileId: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface FileSearch {
  readonly definition: ToolDefinition;
  /** @throws the errors of searchSpaces. */
  search(queries: readonly string[], signal: AbortSignal): Promise<readonly FoundHit[]>;
}

/** How far a search is; `hits` when it has ended. */
export interface SearchProgress {
  readonly callId: string;
  readonly queries: readonly string[];
  readonly hits?: readonly FoundHit[];
}

export const FILE_SEARCH: ToolDefinition = {
  name: "file_search",
  description:
    "Searches the files of the user. Returns numbered passages to answer from and to cite. " +
    "Ask with full sentences or with the words that the passage would have.",
  parameters: {
    type: "object",
    properties: {
      queries: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        maxItems: 4,
        description: "What to search for",
      },
    },
    required: ["queries"],
    additionalProperties: false,
  },
};

const QUERIES_MAX = 4;
const QUERY_MAX_CHARACTERS = 4_096;

/** The queries of a call, as far as the model kept to its schema; an empty list if it did not. */
export function queriesOf(text: string | null): string[] {
  const asked = parsed(text);
  const { queries, query } = asked;
  const list = Array.isArray(queries) ? queries : [query];
  return list
    .filter((one): one is string => typeof one === "string" && one.trim() !== "")
    .slice(0, QUERIES_MAX)
    .map((one) => one.slice(0, QUERY_MAX_CHARACTERS));
}

function parsed(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export interface SortedCalls {
  readonly functions: readonly ToolCall[];
  readonly searches: readonly ToolCall[];
  /** Calls of the agent's own tools, and of tools that do not exist. */
  readonly own: readonly ToolCall[];
}

export function sortCalls(ask: ResponseAsk | undefined, calls: readonly ToolCall[]): SortedCalls {
  if (ask === undefined) return { functions: [], searches: [], own: calls };
  const names = new Set(ask.functions.map(({ name }) => name));
  const isSearch = ({ name }: ToolCall): boolean => ask.fileSearch !== undefined && name === FILE_SEARCH.name;
  return {
    functions: calls.filter(({ name }) => names.has(name)),
    searches: calls.filter(isSearch),
    own: calls.filter((call) => !names.has(call.name) && !isSearch(call)),
  };
}

/** The tools of the client and the search, as far as they are allowed; `own` are the agent's. */
export function offeredTools(
  ask: ResponseAsk | undefined,
  own: readonly ToolDefinition[],
): readonly ToolDefinition[] {
  if (ask === undefined) return own;
  const search = ask.fileSearch === undefined ? [] : [ask.fileSearch.definition];
  const all = [...own, ...search, ...ask.functions];
  return ask.allowed === undefined ? all : all.filter(({ name }) => ask.allowed?.has(name));
}
