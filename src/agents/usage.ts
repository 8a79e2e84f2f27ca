/** The only place that counts a model call's tokens where its provider does not say. */
import type { ChatMessage } from "../models/chat-model.ts";

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Beyond this a count would hold up the process; the rest is estimated. */
const COUNTED_CHARACTERS = 200_000;
const CHARACTERS_A_TOKEN = 4;
/** What a chat format adds to each message (OpenAI's cookbook, "How to count tokens"). */
const TOKENS_A_MESSAGE = 3;

export function countUsage(count: (text: string) => number, messages: readonly ChatMessage[], answer: string): Usage {
  const bounded = (text: string): number => count(text.slice(0, COUNTED_CHARACTERS)) + Math.ceil(Math.max(0, text.length - COUNTED_CHARACTERS) / CHARACTERS_A_TOKEN);
  return { prompt_tokens: bounded(messages.map(textOf).join("\n")) + TOKENS_A_MESSAGE * (messages.length + 1), completion_tokens: bounded(answer) };
}

function textOf(message: ChatMessage): string {
  const { content } = message;
  if (content === null || typeof content === "string") return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

export function addUsage(one: Usage, other: Usage): Usage {
  return { prompt_tokens: one.prompt_tokens + other.prompt_tokens, completion_tokens: one.completion_tokens + other.completion_tokens };
}
