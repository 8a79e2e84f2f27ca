/** What an embedding model is, independent of its provider. */

/** A question may be embedded differently from a text that answers it, and goes first if work waits. */
export type EmbeddingKind = "query" | "passage";

export interface EmbeddingModel {
  readonly name: string;
  readonly dimensions: number;
  /** Tokens of one text that are embedded; what is longer is cut. */
  readonly maxTokens: number;
  /** Texts that one call of `embed` should have if many wait; absent: as many as there are. */
  readonly preferredBatch?: number;
  /** Constants of hybrid search with this model. @see src/domain/fusion.ts */
  readonly fusion: { readonly alpha: number; readonly unrelated?: number };
  /**
   * How well the model knows the language of a text, 0 to 1, by the share of its letters that lie in pieces
   * of the model's vocabulary of three letters or more; a few Latin words say little, and count as mostly
   * known. Absent if the tokenizer says nothing of that: vocabularies of models for many languages are built
   * from bytes.
   */
  readonly fitOf?: ((text: string) => number) | undefined;
  /**
   * One vector of unit length for each text, in the order of the texts; null if the model gave none that can
   * be used.
   *
   * @throws DomainError of class outage, or `rejected_by_provider`; the reason of `signal` after it is
   *   aborted.
   */
  embed(
    texts: readonly string[],
    kind: EmbeddingKind,
    signal?: AbortSignal,
  ): Promise<Array<Float32Array | null>>;
  countTokens(text: string): number;
  /** The text of token ids; absent without a known tokenizer. @throws Error for an unknown id. */
  readonly decodeTokens?: ((tokens: readonly number[]) => string) | undefined;
  /** True if the beginning of a vector, made a unit again, is a vector of fewer dimensions. */
  readonly isShortenable?: boolean;
  /** Offsets [start, end) of each token in UTF-16 units: ascending, without overlaps, between characters. */
  tokenOffsets(text: string): Array<[number, number]>;
  close(): Promise<void>;
}
