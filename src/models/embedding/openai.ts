/**
 * Embeds through an OpenAI-compatible provider.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings/create
 */
import type OpenAI from "openai";
import { providerTokens } from "../../telemetry/instruments.ts";
import { loadBytePairTokens } from "../tokens/byte-pair.ts";
import type { ModelsConfig } from "../config.ts";
import type { EmbeddingModel } from "./types.ts";
import { openAiClient, PROVIDER_TIMEOUT_MS } from "../provider/openai-client.ts";
import { providerError, providerGarbage, providerTimeout } from "../provider/error.ts";

const KNOWN_DIMENSIONS: Record<string, number> = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
};

const MAX_TEXTS_PER_REQUEST = 256;
/** OpenAI takes 300,000 tokens a request, and a character is rarely more than one token. */
const MAX_CHARACTERS_PER_REQUEST = 250_000;

/** The texts, in order, in as few requests as the bounds allow; a longer text is alone in one. */
function batches(texts: readonly string[]): string[][] {
  const all: string[][] = [];
  let characters = Infinity;
  for (const text of texts) {
    const last = all.at(-1);
    if (
      last === undefined ||
      last.length >= MAX_TEXTS_PER_REQUEST ||
      characters + text.length > MAX_CHARACTERS_PER_REQUEST
    ) {
      all.push([text]);
      characters = text.length;
    } else {
      last.push(text);
      characters += text.length;
    }
  }
  return all;
}

/** Reads little-endian float32 in base64, or a list of numbers, as some providers send; otherwise null. */
function decode(embedding: unknown): Float32Array | null {
  if (Array.isArray(embedding))
    return Float32Array.from(embedding, (value) => (typeof value === "number" ? value : Number.NaN));
  if (typeof embedding !== "string") return null;
  const bytes = Buffer.from(embedding, "base64");
  return bytes.length % 4 === 0 ? new Float32Array(Uint8Array.from(bytes).buffer) : null;
}

/** Null for a vector that has no direction: of zeros, or with infinities or what is no number. */
export function toUnitLength(vector: Float32Array): Float32Array | null {
  let square = 0;
  for (const value of vector) square += value * value;
  if (!(square > 0 && square < Infinity)) return null;
  const length = Math.sqrt(square);
  return vector.map((value) => value / length);
}

interface Entry {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

/** The entry of each text, by its index or, if none is missing, its place. Undefined: none or several. */
function entriesByText(data: readonly unknown[], count: number): Array<Entry | undefined> {
  const byText = Map.groupBy(
    data
      .map((entry) => (entry ?? {}) as Entry)
      .map((entry, place) => ({
        entry,
        at: typeof entry.index === "number" ? entry.index : data.length === count ? place : -1,
      })),
    ({ at }) => at,
  );
  return Array.from({ length: count }, (_, index) => {
    const found = byText.get(index);
    return found?.length === 1 ? found[0]!.entry : undefined;
  });
}

/** A response's vectors, in the texts' order. Null: missing, doubled, zero, or of a wrong length. */
function vectorsOf(
  response: unknown,
  count: number,
  dimensions: number | undefined,
): Array<Float32Array | null> {
  const data: unknown =
    typeof response === "object" && response !== null && "data" in response ? response.data : undefined;
  if (!Array.isArray(data)) throw providerGarbage("it holds no embeddings");
  return entriesByText(data, count).map((entry) => {
    const decoded = entry === undefined ? null : decode(entry.embedding);
    const vector = decoded === null ? null : toUnitLength(decoded);
    return vector !== null && (dimensions === undefined || vector.length === dimensions) ? vector : null;
  });
}

/** Counts the tokens that the provider reports; some report none. */
function countTokens(response: unknown): void {
  const { usage } = response as { usage?: { prompt_tokens?: unknown } | null };
  if (typeof usage?.prompt_tokens === "number" && usage.prompt_tokens > 0)
    providerTokens.inc({ operation: "embed", direction: "input" }, usage.prompt_tokens);
}

interface EmbeddingRequest {
  readonly client: OpenAI;
  readonly model: string;
  readonly timeoutMs: number;
  /** Sent to the provider if the configuration says it; a model of only one size refuses the parameter. */
  readonly requestedDimensions: number | undefined;
  readonly expectedDimensions: number | undefined;
}

async function request(
  how: EmbeddingRequest,
  input: string[],
  signal?: AbortSignal,
): Promise<Array<Float32Array | null>> {
  const { requestedDimensions: dimensions } = how;
  signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(how.timeoutMs);
  try {
    const response: unknown = await how.client.embeddings.create(
      {
        model: how.model,
        input,
        encoding_format: "base64",
        ...(dimensions === undefined ? {} : { dimensions }),
      },
      { signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]) },
    );
    countTokens(response);
    return vectorsOf(response, input.length, how.expectedDimensions);
  } catch (error) {
    if (deadline.aborted && !signal?.aborted) throw providerTimeout(how.timeoutMs);
    throw providerError(error, signal);
  }
}

async function askForDimensions(how: EmbeddingRequest): Promise<number> {
  const [vector] = await request(how, ["dimensions"]);
  if (!vector) throw providerGarbage("an embedding has no direction");
  return vector.length;
}

/**
 * The provider's model of this name. Asks for one vector if neither the configuration nor {@link
 * KNOWN_DIMENSIONS} says how long they are, and then throws what `embed` throws.
 *
 * @param timeoutMs bounds each request as a whole; 30,000 by default.
 */
export async function createOpenAiEmbeddings(
  config: ModelsConfig,
  model: string,
  timeoutMs = PROVIDER_TIMEOUT_MS,
): Promise<EmbeddingModel> {
  const client = openAiClient(config);
  const tokens = await loadBytePairTokens(model);
  const how = {
    client,
    model,
    timeoutMs,
    requestedDimensions: config.embeddingDimensions,
    expectedDimensions: undefined,
  };
  const dimensions = config.embeddingDimensions ?? KNOWN_DIMENSIONS[model] ?? (await askForDimensions(how));
  return {
    name: model,
    dimensions,
    maxTokens: 8191,
    fusion: { alpha: 0.5 },
    async embed(texts, _kind, signal) {
      const vectors: Array<Float32Array | null> = [];
      for (const batch of batches(texts)) {
        for (const vector of await request({ ...how, expectedDimensions: dimensions }, batch, signal))
          vectors.push(vector);
      }
      return vectors;
    },
    countTokens: tokens.count,
    decodeTokens: tokens.decode,
    isShortenable: model.startsWith("text-embedding-3-"),
    tokenOffsets: tokens.offsets,
    close: async () => undefined,
  };
}
