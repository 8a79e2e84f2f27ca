/**
 * Chats with an OpenAI-compatible provider.
 *
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
import { traceHeaders } from "../../telemetry/span.ts";
import { loadBytePairTokens } from "../tokens/byte-pair.ts";
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest } from "./types.ts";
import { createChatStreamReader } from "./stream.ts";
import type { ModelsConfig } from "../config.ts";
import { providerOf } from "../provider/openai-client.ts";
import { providerError, providerTimeout } from "../provider/error.ts";
import { type PostForPieces, postsTo } from "../provider/http.ts";

/** Milliseconds until the first piece, and between two. Slower models send something meanwhile. */
const SILENCE_TIMEOUT_MS = 60_000;

type Wire = Record<string, unknown>;

function wireMessage({ role, content, tool_calls: calls, tool_call_id: callId }: ChatMessage): Wire {
  const message: Wire = { role, content };
  if (callId !== undefined) message["tool_call_id"] = callId;
  if (calls !== undefined && calls.length > 0) {
    message["tool_calls"] = calls.map(({ id, name, arguments: text }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    }));
    // Some providers refuse a message that has tool calls and an empty text.
    if (content === "") message["content"] = null;
  }
  return message;
}

/** OpenAI's reasoning models refuse `max_tokens`; most others do not know `max_completion_tokens`. */
function tokenLimitName(model: string): string {
  return /^(o\d|gpt-5)/.test(model) ? "max_completion_tokens" : "max_tokens";
}

function reasoning(value: unknown): Wire {
  if (typeof value !== "object" || value === null) return {};
  const keys = Object.keys(value);
  if (keys.length === 0) return {};
  return keys.length === 1 && "effort" in value ? { reasoning_effort: value.effort } : { reasoning: value };
}

function wireRequest(request: ChatRequest): Wire {
  const {
    model,
    messages,
    temperature,
    max_tokens: maxTokens,
    response_format: format,
    tools = [],
  } = request;
  return {
    model,
    messages: messages.map(wireMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { [tokenLimitName(model)]: maxTokens }),
    ...(format === undefined || format === null ? {} : { response_format: format }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters, strict }) => ({
            type: "function",
            function: { name, description, parameters, ...(strict === undefined ? {} : { strict }) },
          })),
        }),
    ...reasoning(request.reasoning),
    ...request.more,
  };
}

interface Connection {
  readonly post: PostForPieces;
  readonly headers: Readonly<Record<string, string>>;
  readonly silenceTimeoutMs: number;
}

async function* stream(
  { post, headers, silenceTimeoutMs }: Connection,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  signal.throwIfAborted();
  const connection = new AbortController();
  const leave = (): void => connection.abort();
  signal.addEventListener("abort", leave, { once: true });
  let isSilent = false;
  let isReading = true;
  let isWhole = false;
  const silence = setTimeout(() => {
    // Time that the reader takes is not the provider's silence.
    if (!isReading) return;
    isSilent = true;
    connection.abort();
  }, silenceTimeoutMs);
  try {
    const reader = createChatStreamReader();
    const body = JSON.stringify(wireRequest(request));
    for await (const piece of await post(body, { ...headers, ...traceHeaders() }, connection.signal)) {
      silence.refresh();
      isReading = false;
      yield* reader.read(piece);
      isReading = true;
      silence.refresh();
      if (reader.isDone) break;
    }
    const rest = reader.end();
    isWhole = true;
    yield* rest;
  } catch (error) {
    if (isSilent && !signal.aborted) throw providerTimeout(silenceTimeoutMs);
    throw providerError(error, signal);
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", leave);
    if (!isWhole) connection.abort();
  }
}

/**
 * The model `name` of the provider; loads its tokenizer, and sends nothing before it is asked.
 *
 * @param silenceTimeoutMs after so many milliseconds without a byte the call fails with `provider_timeout`;
 *   60,000 by default.
 */
export async function createOpenAiChat(
  config: ModelsConfig,
  name: string,
  silenceTimeoutMs = SILENCE_TIMEOUT_MS,
): Promise<ChatModel> {
  const { baseUrl, apiKey } = providerOf(config);
  const post = postsTo(new URL(`${baseUrl.replace(/\/$/, "")}/chat/completions`));
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json", "user-agent": "holdfast" };
  const tokens = await loadBytePairTokens(name);
  return {
    name,
    isLocal: false,
    names: [name],
    stream: (request, signal) => stream({ post, headers, silenceTimeoutMs }, request, signal),
    countTokens: tokens.count,
  };
}
