/** Answers without a language model: quotes the sources, each quotation with its mark. */
import { fileURLToPath } from "node:url";
import { boundedCount } from "../tokens/bounded.ts";
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest, ToolCall } from "./types.ts";
import { extractSentences, type Source, type TermReader } from "./extract-sentences.ts";
import { loadWordPiece } from "../embedding/wordpiece.ts";

const NAME = "local-extractive";
const SEARCH_TOOL = "knowledge_search";
const MAX_QUOTES = 3;
const MAX_QUESTION_LENGTH = 2_000;
const VOCABULARY = fileURLToPath(new URL("../../../models/all-minilm-l6-v2-int8/vocab.txt", import.meta.url));

const QUOTING = "No language model is configured, so this answer only quotes the sentences that match best:";
const NOTHING_FOUND =
  "No language model is configured, and nothing was found in the documents that answers the question.";

function messageText({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

const MARKERS = { open: "<<<SOURCES\n", close: "SOURCES>>>" };
/** The first line of a source: `[n] name`. */
const BLOCK_START = /^\[(\d{1,6})\] (.*)/;
/** All sources together; several times what one search brings. */
const MAX_SOURCE_CHARACTERS = 200_000;

/** Reads the sources between `<<<SOURCES` and `SOURCES>>>`, line by line: texts may have such lines. */
function sourcesOf(text: string): Source[] {
  if (!text.includes(MARKERS.open)) return [];
  const sources: { index: number; name: string; lines: string[] }[] = [];
  let isInside = false;
  for (const line of text.split("\n")) {
    if (line === MARKERS.close || `${line}\n` === MARKERS.open) {
      isInside = line !== MARKERS.close;
      continue;
    }
    const start = isInside ? BLOCK_START.exec(line) : null;
    if (start !== null) sources.push({ index: Number(start[1]), name: start[2] ?? "", lines: [] });
    else if (isInside) sources.at(-1)?.lines.push(line);
  }
  return sources.map(({ lines, ...source }) => ({ ...source, text: lines.join("\n") }));
}

/** System messages hold the sources that were searched first, tool messages those the model asked for. */
function allSources(messages: readonly ChatMessage[]): Source[] {
  const texts = messages.filter(({ role }) => role === "system" || role === "tool").map(messageText);
  const byIndex = new Map(texts.flatMap(sourcesOf).map((source) => [source.index, source]));
  let left = MAX_SOURCE_CHARACTERS;
  return [...byIndex.values()].flatMap((source) => {
    const text = source.text.slice(0, left);
    left -= text.length;
    return text === "" ? [] : [{ ...source, text }];
  });
}

function questionOf(messages: readonly ChatMessage[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last === undefined ? "" : messageText(last).trim().slice(0, MAX_QUESTION_LENGTH);
}

/** The search that a model would ask for; undefined if the agent has no search or it has been done. */
function wantedSearch(request: ChatRequest, question: string): ToolCall | undefined {
  const { messages, tools = [] } = request;
  const asked = messages
    .slice(messages.findLastIndex(({ role }) => role === "user"))
    .some(({ role }) => role === "tool");
  const isOffered = tools.some(({ name }) => name === SEARCH_TOOL);
  if (asked || !isOffered || question === "") return undefined;
  return { id: `call_${messages.length}`, name: SEARCH_TOOL, arguments: JSON.stringify({ query: question }) };
}

function answer(messages: readonly ChatMessage[], question: string, reader: TermReader): string {
  const quotes = extractSentences(question, allSources(messages), { maxQuotes: MAX_QUOTES, reader });
  if (quotes.length === 0) return NOTHING_FOUND;
  return [QUOTING, ...quotes.map(({ index, sentence }) => `“${sentence}” [${index}]`)].join("\n\n");
}

/**
 * A model that reads no configuration and no network; the same request always gets the same answer.
 * @param reader compares words as search does.
 */
export function createLocalExtractive(reader: TermReader): ChatModel {
  const tokenizer = loadWordPiece(VOCABULARY);
  const usageOf = (messages: readonly ChatMessage[], completion: string) => {
    const count = boundedCount(tokenizer.count);
    const written = count(completion);
    const prompt = messages.reduce((total, message) => total + count(messageText(message)), 0);
    return { prompt_tokens: prompt, completion_tokens: written, total_tokens: prompt + written };
  };
  async function* stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    signal.throwIfAborted();
    const question = questionOf(request.messages);
    const search = wantedSearch(request, question);
    if (search !== undefined) {
      yield { type: "tool_calls", calls: [search] };
      yield { type: "finish", reason: "tool_calls", usage: usageOf(request.messages, search.arguments) };
      return;
    }
    const text = answer(request.messages, question, reader);
    for (const word of text.match(/\s*\S+/gu) ?? []) {
      signal.throwIfAborted();
      yield { type: "content", text: word };
    }
    yield { type: "finish", reason: "stop", usage: usageOf(request.messages, text) };
  }
  return { name: NAME, names: [NAME], isLocal: true, stream, countTokens: tokenizer.count };
}
