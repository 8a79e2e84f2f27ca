/** Asks an agent and gives the answer piece by piece, over connections that come and go. */
import type { Client } from "openapi-fetch";
import { ServerError, refusalOf } from "./errors.ts";
import { readStream } from "./events/read-stream.ts";
import { type Persistence, backoffMs, newKey, persist, wait } from "./requests.ts";
import type { components, paths } from "./schema.ts";
import type { AskOptions } from "./questions.ts";

type Schemas = components["schemas"];
type Chunk = Schemas["ChatCompletionChunk"];

export type AnswerStreamOptions = AskOptions & {
  /**
   * Asking again with the same key, within 24 hours and with the same question, gives the same answer, from
   * its start or behind `after`. A new one by default.
   */
  readonly idempotencyKey?: string;
  /** The `cursor` of the last piece that was received. */
  readonly after?: string;
};

/** What one event of the stream adds to the answer. */
export interface AnswerPiece {
  /** The next characters; empty where the piece brings something else. */
  readonly text: string;
  /** The sources, with the last piece that has content; the offsets are those in the whole answer. */
  readonly citations?: readonly Schemas["Citation"][];
  readonly annotations?: readonly Schemas["Annotation"][];
  readonly removedCitations?: number;
  /** Tools that begin or have ended; an answer that is read once more does not tell of them. */
  readonly tools?: readonly Schemas["ToolProgress"][];
  readonly usage?: Schemas["Usage"];
  /** Why the text ends; null until then. */
  readonly finishReason: string | null;
  /** Where the stream goes on behind this piece; absent of what has no place in it. */
  readonly cursor?: string;
}

/** Connections that bring nothing new, after which it gives up. */
const MAX_EMPTY_CONNECTIONS = 5;
/** A request is answered within seconds, or its stream has begun and brings pings. */
const OPENING_MS = 120_000;

/** @see `Holdfast.askInPieces` */
export async function* askInPieces(
  api: Client<paths>,
  options: AnswerStreamOptions,
  persistence: Persistence,
): AsyncGenerator<AnswerPiece, void, undefined> {
  const key = options.idempotencyKey ?? newKey();
  let cursor = options.after;
  for (let empty = 0; ; empty += 1) {
    const body = await open(api, options, { key, cursor }, persistence);
    for await (const { id, data } of readStream(body, { signal: options.signal })) {
      if (data === "[DONE]") return;
      if (data === undefined) continue;
      if (id !== undefined) {
        cursor = id;
        empty = 0;
      }
      yield pieceOf(JSON.parse(data) as Chunk | Schemas["ChatStreamError"], id);
    }
    options.signal?.throwIfAborted();
    if (empty >= MAX_EMPTY_CONNECTIONS)
      throw new ServerError("The stream of the answer breaks off again and again.");
    await wait(backoffMs(empty), options.signal);
  }
}

interface Place {
  readonly key: string;
  readonly cursor: string | undefined;
}

async function open(
  api: Client<paths>,
  { agent, question, messages, temperature, maxTokens, signal }: AnswerStreamOptions,
  { key, cursor }: Place,
  persistence: Persistence,
): Promise<ReadableStream<Uint8Array>> {
  const body = {
    model: agent,
    messages: messages ?? [{ role: "user", content: question }],
    temperature,
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true, include_tools: true },
  } as Schemas["ChatCompletionRequest"];
  const header = { "Idempotency-Key": key, ...(cursor === undefined ? {} : { "Last-Event-ID": cursor }) };
  const answer = await persist<unknown>(
    (ended) =>
      api.POST("/v1/chat/completions", { params: { header }, body, parseAs: "stream", signal: ended }),
    { ...persistence, signal, timeoutMs: OPENING_MS },
  );
  return answer as ReadableStream<Uint8Array>;
}

/** @throws HoldfastError if it is the event of a failure */
function pieceOf(chunk: Chunk | Schemas["ChatStreamError"], id: string | undefined): AnswerPiece {
  if ("error" in chunk) throw failureOf(chunk);
  const { choices, citations, removed_citations: removedCitations, tools, usage } = chunk;
  const [choice] = choices;
  const { content = "", annotations } = choice?.delta ?? {};
  const more = { citations, annotations, removedCitations, tools, usage: usage ?? undefined, cursor: id };
  const present = Object.entries(more).filter(([, value]) => value !== undefined);
  return { text: content, finishReason: choice?.finish_reason ?? null, ...Object.fromEntries(present) };
}

/** The stream has begun with 200, so its failure has no status of its own. */
const failureOf = (event: Schemas["ChatStreamError"]): Error =>
  refusalOf(new Response(null, { status: 502 }), event);
