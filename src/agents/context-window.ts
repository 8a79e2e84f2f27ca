/** Makes a conversation fit the model's context: leaves out the oldest turns first, then results of tools. */
import { DomainError } from "../domain/errors.ts";
import { boundedCount } from "../models/tokens/bounded.ts";
import type { ChatMessage, ToolDefinition } from "../models/chat/chat-model.ts";

export interface ContextWindow {
  /** How many tokens the model takes, question and answer together. */
  readonly tokens: number;
  readonly count: (text: string) => number;
}

interface Fitted {
  readonly messages: ChatMessage[];
  /** How many messages of the history were left out. */
  readonly dropped: number;
}

/** Reserved for the answer if the request does not limit its length. */
const ANSWER_TOKENS = 4_096;
/**
 * What a chat format adds to each message, with one to spare.
 * @see https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken
 */
const TOKENS_A_MESSAGE = 4;
/** The largest share of the window that is reserved for the answer. */
const ANSWER_SHARE = 0.5;
const LEFT_OUT = "(left out: the conversation has become too long)";

/**
 * Never drops system messages, or the last message of the user and what follows it. Images count as nothing,
 * because each provider counts them in its own way.
 * @param offered the tools whose definitions are sent along.
 * @param maxTokens the longest answer. Default 4,096.
 * @throws DomainError `bad_request` if even these messages do not fit.
 */
export function fitContext(
  messages: readonly ChatMessage[],
  offered: readonly ToolDefinition[],
  maxTokens: number | undefined,
  window: ContextWindow,
): Fitted {
  const free = window.tokens - Math.min(maxTokens ?? ANSWER_TOKENS, Math.floor(window.tokens * ANSWER_SHARE));
  // No token is shorter than a byte, so most conversations need no counting.
  if (bytesOf(messages) + bytesOf(offered) <= free) return { messages: [...messages], dropped: 0 };
  const count = boundedCount(window.count);
  const ofOffered = count(JSON.stringify(offered));
  // boundedCount counts first texts exactly, and estimates old messages, which are left out anyway.
  const sizes = new Map(messages.toReversed().map((message) => [message, sizeOf(message, count)]));
  let left = free - ofOffered - [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const kept = new Set(messages);
  const drop = (message: ChatMessage): void => {
    kept.delete(message);
    left += sizes.get(message) ?? 0;
  };
  const question = messages.findLastIndex(({ role }) => role === "user");
  const history = messages.slice(0, Math.max(0, question)).filter(({ role }) => role !== "system");
  for (const turn of turnsOf(history)) {
    if (left >= 0) break;
    turn.forEach(drop);
  }
  const remaining = [...kept];
  const lastAnswer = remaining.findLastIndex(({ role }) => role === "assistant");
  const fitted = remaining.map((message, index) => {
    // Results that the model has not seen yet stay.
    const isSeen = index < lastAnswer;
    if (left >= 0 || message.role !== "tool" || !isSeen) return message;
    left += (sizes.get(message) ?? 0) - count(LEFT_OUT);
    return { ...message, content: LEFT_OUT };
  });
  if (left < 0)
    throw new DomainError(
      "context_length_exceeded",
      `The conversation does not fit the model's context of ${window.tokens} tokens, ` +
        "even without its earlier turns.",
    );
  return { messages: fitted, dropped: messages.length - kept.size };
}

/** Groups each message of the user with the messages after it, up to the next one. */
function turnsOf(history: readonly ChatMessage[]): ChatMessage[][] {
  const turns: ChatMessage[][] = [];
  for (const message of history) {
    const last = turns.at(-1);
    if (last === undefined || message.role === "user") turns.push([message]);
    else last.push(message);
  }
  return turns;
}

function bytesOf(values: readonly object[]): number {
  return values.reduce((sum, value) => sum + Buffer.byteLength(JSON.stringify(value, withoutImages)), 0);
}

function sizeOf(message: ChatMessage, count: (text: string) => number): number {
  return TOKENS_A_MESSAGE + count(JSON.stringify(message, withoutImages));
}

function withoutImages(key: string, value: unknown): unknown {
  return key === "image_url" ? undefined : value;
}
