/** Embeds a query with each of the models whose vectors it is compared with. */
import type { QueryVector } from "../db/search/embeddings.ts";
import type { SearchedModel } from "../db/search/scope.ts";
import { DomainError } from "../domain/errors.ts";
import { type FusionConstants, fitted } from "../domain/fusion.ts";
import { isLanguageKnown } from "../domain/language-fit.ts";
import type { EmbeddingModel } from "../models/embedding/embedding-model.ts";

type ModelName = Pick<EmbeddingModel, "name" | "dimensions">;

export interface QueryEmbedder {
  readonly model: ModelName & Pick<EmbeddingModel, "fusion" | "fitOf">;
  embed(text: string, organizationId: string, signal?: AbortSignal): Promise<Float32Array>;
  /** The same for a model that documents were embedded with before; null if it cannot be asked any more. */
  another?(model: ModelName): Promise<Pick<QueryEmbedder, "model" | "embed"> | null>;
}

export interface FusedVector extends QueryVector {
  /** The constants of the model for what it knows of the query's language and of the space's. */
  readonly fusion: FusionConstants;
  /** Whether the model hardly knows one of them, so that words count almost alone. */
  readonly isForeign: boolean;
}

interface Known {
  readonly vector: Float32Array;
  readonly fusion: FusionConstants;
  /** How well the model knows the query's language, 0 to 1; 1 if it cannot tell. */
  readonly fit: number;
}

/**
 * Below this a question's language counts as hardly known. Questions are short and vary more than spaces: of
 * German ones, one in twenty is below .4, and none of languages with other letters is above 0.
 */
const FOREIGN_QUERY = 0.25;

const keyOf = ({ name, dimensions }: ModelName): string => `${name} ${dimensions}`;

export interface QueryVectors {
  /** Whether `add` was called for the model. */
  has(model: ModelName): boolean;
  /** Null if the query could not be embedded with the model. */
  of(model: SearchedModel): FusedVector | null;
  /** Whether the query could be embedded with the model. */
  isKnown(model: ModelName): boolean;
  /**
   * Embeds the query with the model, once however often it is called. A provider that is down, too slow or
   * refuses the text is noted and is no error.
   *
   * @throws the reason of `signal` after it is aborted.
   */
  add(model: ModelName, signal: AbortSignal | undefined): Promise<void>;
}

export function createQueryVectors(
  current: QueryEmbedder,
  text: string,
  organizationId: string,
): QueryVectors {
  const known = new Map<string, Known | null>();
  const underWay = new Map<string, Promise<void>>();
  const embed = async (model: ModelName, signal: AbortSignal | undefined): Promise<void> => {
    const key = keyOf(model);
    try {
      const embedder = key === keyOf(current.model) ? current : ((await current.another?.(model)) ?? null);
      known.set(
        key,
        embedder === null
          ? null
          : {
              vector: await embedder.embed(text, organizationId, signal),
              fusion: embedder.model.fusion,
              fit: embedder.model.fitOf?.(text) ?? 1,
            },
      );
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof DomainError)) throw error;
      known.set(key, null);
    }
  };
  return {
    has: (model) => known.has(keyOf(model)),
    of(model) {
      const found = known.get(keyOf(model)) ?? null;
      if (found === null) return null;
      const { vector, fusion, fit } = found;
      const { num: modelNum, dimensions, languageFit } = model;
      const ofSpace = languageFit ?? 1;
      const isForeign = fit < FOREIGN_QUERY || !isLanguageKnown(ofSpace);
      return { vector, fusion: fitted(fusion, fit, ofSpace), isForeign, modelNum, dimensions };
    },
    isKnown: (model) => (known.get(keyOf(model)) ?? null) !== null,
    async add(model, signal) {
      const key = keyOf(model);
      const pending = underWay.get(key) ?? embed(model, signal);
      underWay.set(key, pending);
      await pending;
    },
  };
}
