/** What a chat model is asked and what it answers, independent of its provider. */

export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string; readonly detail?: string } };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote it: JSON only if the model kept to its protocol. */
  readonly arguments: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the provider holds the model to the schema. Absent: as the provider does by itself. */
  readonly strict?: boolean | undefined;
}

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly ContentPart[] | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

export interface ChatRequest {
  /** The provider's name for the model; a local model ignores it. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly temperature?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly response_format?: unknown;
  /** An object with only `effort` is sent as OpenAI's `reasoning_effort`, any other as `reasoning`. */
  readonly reasoning?: unknown;
  readonly tools?: readonly ToolDefinition[] | undefined;
  /** Further fields of the provider's request, sent as they are; a local model ignores them. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
  /** Asks the configured model of the name `model`, without fallbacks. */
  readonly isExact?: boolean | undefined;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  /** Of the prompt, as far as the provider says so. */
  readonly cached_tokens?: number;
  /** Of the completion, as far as the provider says so. */
  readonly reasoning_tokens?: number;
}

/** Content as it is written, then all tool calls in one event if there are any, then exactly one `finish`. */
export type ChatEvent =
  | { readonly type: "content"; readonly text: string }
  | { readonly type: "tool_calls"; readonly calls: readonly ToolCall[] }
  | {
      readonly type: "finish";
      readonly reason: string;
      /** Null if the provider reported none. */
      readonly usage: Usage | null;
      /** Set if another model answered than the one that was asked for. */
      readonly model?: string;
    };

export interface ChatModel {
  readonly name: string;
  readonly isLocal: boolean;
  /** The names of the configured models, this one's first. */
  readonly names: readonly string[];
  /**
   * The model's answer as it is written. The provider is asked when the first event is read, and no event is
   * read ahead of the reader. Leaving the iteration, or aborting, closes the provider's connection.
   *
   * @throws DomainError of class outage, or `rejected_by_provider`; the reason of `signal` after it is
   *   aborted.
   */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
  countTokens(text: string): number;
}
