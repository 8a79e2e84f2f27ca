/** The only place that chats with an OpenAI-compatible provider. */
import type OpenAI from "openai";
import { loadBytePairTokens } from "./byte-pair-tokens.ts";
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest, Usage } from "./chat-model.ts";
import type { ModelsConfig } from "./embedding-model.ts";
import { openAiClient } from "./openai-client.ts";
import { providerError, providerGarbage, providerTimeout } from "./provider-error.ts";
import { sendForStream } from "./provider-http.ts";
import { collectToolCalls, type ToolCallDelta } from "./tool-call-deltas.ts";

/** Until the first piece, and between any two: models that think for long send something meanwhile. */
const SILENCE_TIMEOUT_MS = 60_000;

type Wire = Record<string, unknown>;

function wireMessage({ role, content, tool_calls: calls, tool_call_id: callId }: ChatMessage): Wire {
  const message: Wire = { role, content };
  if (callId !== undefined) message["tool_call_id"] = callId;
  if (calls !== undefined && calls.length > 0) {
    message["tool_calls"] = calls.map(({ id, name, arguments: text }) => ({ id, type: "function", function: { name, arguments: text } }));
    // An empty text beside tool calls is refused by some providers.
    if (content === "") message["content"] = null;
  }
  return message;
}

/** OpenAI's reasoning models refuse the older name, and most other providers do not know the newer one. */
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
  const { model, messages, temperature, max_tokens: maxTokens, response_format: format, tools = [] } = request;
  return {
    model,
    messages: messages.map(wireMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { [tokenLimitName(model)]: maxTokens }),
    ...(format === undefined || format === null ? {} : { response_format: format }),
    ...(tools.length === 0 ? {} : { tools: tools.map(({ name, description, parameters }) => ({ type: "function", function: { name, description, parameters } })) }),
    ...reasoning(request.reasoning),
  };
}

/** What is read of a chunk; providers leave out or null whatever they like. */
interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly ToolCallDelta[] | null;
}

interface Chunk {
  readonly choices?: ReadonlyArray<{ readonly delta?: Delta | null; readonly finish_reason?: string | null }> | null;
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
}

function toUsage(usage: NonNullable<Chunk["usage"]>): Usage {
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function asChunk(received: unknown): Chunk {
  if (typeof received !== "object" || received === null) throw providerGarbage("a chunk is no object");
  return received;
}

function textOf({ content, refusal }: Delta): string {
  const text = content ?? refusal;
  return typeof text === "string" ? text : "";
}

async function* events(chunks: AsyncIterable<unknown>, onChunk: () => void): AsyncGenerator<ChatEvent> {
  const calls = collectToolCalls();
  let reason: string | undefined;
  let usage: Usage | null = null;
  for await (const received of chunks) {
    onChunk();
    const chunk = asChunk(received);
    if (chunk.usage) usage = toUsage(chunk.usage);
    const choice = chunk.choices?.[0];
    if (choice === undefined) continue;
    const delta = choice.delta ?? {};
    const text = textOf(delta);
    if (text !== "") yield { type: "content", text };
    for (const call of delta.tool_calls ?? []) calls.add(call);
    reason = choice.finish_reason ?? reason;
  }
  if (reason === undefined) throw providerGarbage("it ended too early");
  if (!calls.isEmpty) yield { type: "tool_calls", calls: calls.finish() };
  yield { type: "finish", reason, usage };
}

interface Connection {
  readonly client: OpenAI;
  readonly silenceTimeoutMs: number;
}

async function* stream({ client, silenceTimeoutMs }: Connection, request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  signal.throwIfAborted();
  const connection = new AbortController();
  const leave = (): void => connection.abort();
  signal.addEventListener("abort", leave, { once: true });
  let isSilent = false;
  let isReading = true;
  let isWhole = false;
  const silence = setTimeout(() => {
    // The time that the reader takes is not the provider's silence.
    if (!isReading) return;
    isSilent = true;
    connection.abort();
  }, silenceTimeoutMs);
  try {
    // Messages, tools and the rest are this project's own types; the provider judges them.
    const body = wireRequest(request) as unknown as OpenAI.ChatCompletionCreateParamsStreaming;
    const chunks = await client.chat.completions.create(body, { signal: connection.signal, timeout: silenceTimeoutMs });
    for await (const event of events(chunks, () => silence.refresh())) {
      isReading = false;
      isWhole = event.type === "finish";
      yield event;
      isReading = true;
      silence.refresh();
    }
  } catch (error) {
    if (isSilent && !signal.aborted) throw providerTimeout(silenceTimeoutMs);
    throw providerError(error, signal);
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", leave);
    if (!isWhole) connection.abort();
  }
}

/** A provider that sends nothing for `silenceTimeoutMs` has timed out. */
export async function createOpenAiChat(config: ModelsConfig, name: string, silenceTimeoutMs = SILENCE_TIMEOUT_MS): Promise<ChatModel> {
  const connection: Connection = { client: openAiClient(config, sendForStream), silenceTimeoutMs };
  const tokens = await loadBytePairTokens(name);
  return {
    name,
    isLocal: false,
    stream: (request, signal) => stream(connection, request, signal),
    countTokens: tokens.count,
  };
}
