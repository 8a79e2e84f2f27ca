/** The only place that says what an embedding model is, and which one a configuration asks for. */
import type { ChatFallback } from "../chat/chat-model.ts";
import { LOCAL_MODEL, createLocalMiniLm } from "./local-minilm.ts";
import { observedEmbeddings } from "../observed.ts";
import { createOpenAiEmbeddings } from "./openai.ts";

/** A question and the text that answers it may be embedded differently; questions also go first where work waits. */
export type EmbeddingKind = "query" | "passage";

export interface EmbeddingModel {
  readonly name: string;
  readonly dimensions: number;
  /** Most tokens of one text that reach its vector. */
  readonly maxTokens: number;
  /** Texts of one `embed` where many wait; absent: as many as there are. */
  readonly preferredBatch?: number;
  /** Weight of the dense side, and the BM25 score that counts half, in hybrid search with this model. */
  readonly fusion: { readonly alpha: number; readonly bm25Saturation: number };
  /**
   * Vectors of unit length, one for each text, in order; null for a text for which there is none that can be used.
   * @throws DomainError of class outage, or `rejected_by_provider`; the reason of `signal` once it is aborted.
   */
  embed(
    texts: readonly string[],
    kind: EmbeddingKind,
    signal?: AbortSignal,
  ): Promise<Array<Float32Array | null>>;
  countTokens(text: string): number;
  /** Offsets [start, end) in UTF-16 units of each token; they ascend, never overlap, and cut no character in two. */
  tokenOffsets(text: string): Array<[number, number]>;
  close(): Promise<void>;
}

/** Which models to use; absent fields mean the models that need no provider. */
export interface ModelsConfig {
  /** Of an OpenAI-compatible provider, with its version: `https://api.openai.com/v1`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly embeddingModel?: string | undefined;
  readonly embeddingDimensions?: number | undefined;
  readonly chatModel?: string | undefined;
  readonly chatFallbacks?: readonly ChatFallback[] | undefined;
}

/**
 * The provider's model where `embeddingModel` is set, else the one that ships with the project. Asks the provider once for the
 * number of dimensions where neither the configuration nor a table of known models says it, so it may throw as `embed` does.
 */
export async function createEmbeddingModel(
  config: ModelsConfig,
  { embedsSoon = true } = {},
): Promise<EmbeddingModel> {
  return observedEmbeddings(
    config.embeddingModel === undefined
      ? createLocalMiniLm({ embedsSoon })
      : await createOpenAiEmbeddings(config, config.embeddingModel),
  );
}

/** A model by its name, as documents were embedded with it before the configuration changed; null where the configuration has no way to it. */
export async function openEmbeddingModel(
  config: ModelsConfig,
  { name, dimensions }: Pick<EmbeddingModel, "name" | "dimensions">,
): Promise<EmbeddingModel | null> {
  if (name === LOCAL_MODEL) return observedEmbeddings(createLocalMiniLm());
  if (config.baseUrl === undefined) return null;
  // Models with one size only refuse to be asked for it.
  const inFull = await createOpenAiEmbeddings({ ...config, embeddingDimensions: undefined }, name);
  return observedEmbeddings(
    inFull.dimensions === dimensions
      ? inFull
      : await createOpenAiEmbeddings({ ...config, embeddingDimensions: dimensions }, name),
  );
}
