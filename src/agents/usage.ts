/** Counts the tokens of a model call whose provider does not report them. */
import { boundedCount } from "../models/tokens/bounded.ts";
import type { ChatMessage } from "../models/chat/chat-model.ts";

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Of the prompt, as far as the provider says so. */
  readonly cached_tokens?: number;
  /** Of the completion, as far as the provider says so. */
  readonly reasoning_tokens?: number;
}

/**
 * What a chat format adds to each message.
 * @see https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken
 */
const TOKENS_A_MESSAGE = 3;

export function countUsage(
  count: (text: string) => number,
  messages: readonly ChatMessage[],
  answer: string,
): Usage {
  const bounded = boundedCount(count);
  return {
    completion_tokens: bounded(answer),
    prompt_tokens: bounded(messages.map(messageText).join("\n")) + TOKENS_A_MESSAGE * (messages.length + 1),
  };
}

function messageText(message: ChatMessage): string {
  const { content } = message;
  if (content === null || typeof content === "string") return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    ...sumOf("cached_tokens", one, other),
    ...sumOf("reasoning_tokens", one, other),
  };
}

function sumOf(
  name: "cached_tokens" | "reasoning_tokens",
  one: Usage,
  other: Usage,
): Partial<Record<typeof name, number>> {
  const sum = (one[name] ?? 0) + (other[name] ?? 0);
  return one[name] === undefined && other[name] === undefined ? {} : { [name]: sum };
}

/** The usage as an answer shows it. */
export function withTotal({ prompt_tokens, completion_tokens }: Usage) {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
