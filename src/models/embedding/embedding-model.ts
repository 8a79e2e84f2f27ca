/** Makes the embedding model that a configuration asks for; the entry of this folder. */
import type { ModelsConfig } from "../config.ts";
import { observedEmbeddings } from "../observed.ts";
import { LOCAL_MODEL, createLocalMiniLm } from "./local-minilm.ts";
import { createOpenAiEmbeddings } from "./openai.ts";
import type { EmbeddingModel } from "./types.ts";

export { LOCAL_MODEL } from "./local-minilm.ts";
export type * from "./types.ts";

/**
 * The provider's model if `embeddingModel` is set; otherwise the local model, which ships with the project.
 *
 * @param options.embedsSoon true by default: a local model is loaded at once, so that its first text does not
 *   wait.
 * @throws what `embed` throws: the provider is asked for a vector if neither the configuration nor the table
 *   of known models says how long vectors are.
 * @example `test/models/embedding/openai.test.ts` and `test/models/embedding/local-minilm.test.ts`
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

/** The model of this name that documents were embedded with before; null if none could have it. */
export async function openEmbeddingModel(
  config: ModelsConfig,
  { name, dimensions }: Pick<EmbeddingModel, "name" | "dimensions">,
): Promise<EmbeddingModel | null> {
  if (name === LOCAL_MODEL) return observedEmbeddings(createLocalMiniLm());
  if (config.baseUrl === undefined) return null;
  // A model that has only one size refuses a request that names a size, even the right one.
  const inFull = await createOpenAiEmbeddings({ ...config, embeddingDimensions: undefined }, name);
  return observedEmbeddings(
    inFull.dimensions === dimensions
      ? inFull
      : await createOpenAiEmbeddings({ ...config, embeddingDimensions: dimensions }, name),
  );
}
