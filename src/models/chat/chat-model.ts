/** The only place that says what a chat model is, and which one a configuration asks for. */
import type { ModelsConfig } from "../embedding/embedding-model.ts";
import { withFallbacks } from "./fallbacks.ts";
import { createLocalExtractive } from "./local-extractive.ts";
import { observedChat } from "../observed.ts";
import { createOpenAiChat } from "./openai.ts";

export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string; readonly detail?: string } };

/** `arguments` is what the model wrote: JSON if it kept to its protocol. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly ContentPart[] | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

export interface ChatRequest {
  /** Of the provider; a local model ignores it. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly temperature?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly response_format?: unknown;
  /** `{effort}` goes out as `reasoning_effort`, any other object as `reasoning`, which is what providers besides OpenAI take. */
  readonly reasoning?: unknown;
  readonly tools?: readonly ToolDefinition[] | undefined;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Content as it comes; then the tool calls, whole, if there are any; then exactly one `finish`. Usage is null where the provider gave none. */
export type ChatEvent =
  | { readonly type: "content"; readonly text: string }
  | { readonly type: "tool_calls"; readonly calls: readonly ToolCall[] }
  | {
      readonly type: "finish";
      readonly reason: string;
      readonly usage: Usage | null;
      /** Where it is not the one that was asked for. */ readonly model?: string;
    };

export interface ChatModel {
  readonly name: string;
  readonly isLocal: boolean;
  /**
   * Nothing is asked of the provider before the first event is, and no further event is read before it is wanted. Leaving the
   * iteration, or aborting, closes the provider's connection.
   * @throws DomainError of class outage, or `rejected_by_provider`; the reason of `signal` once it is aborted.
   */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
  countTokens(text: string): number;
}

/** A provider to ask where the first one is down. */
export interface ChatFallback {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
}

/** The provider's model where `chatModel` is set, with its fallbacks, else one that only quotes the sources it is given. */
export async function createChatModel(config: ModelsConfig): Promise<ChatModel> {
  if (config.chatModel === undefined) return createLocalExtractive();
  const observed = async (provider: ModelsConfig, model: string): Promise<ChatModel> =>
    observedChat(await createOpenAiChat(provider, model));
  const others = (config.chatFallbacks ?? []).map((fallback) => observed(fallback, fallback.model));
  return withFallbacks(await observed(config, config.chatModel), await Promise.all(others));
}
