/** Embeds the texts of a collection. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { EmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";

/**
 * Embeds the texts, or reads their vectors from `file`, where the last run kept them as float32: embedding
 * takes most of a run's time.
 */
export async function embedAll(
  model: EmbeddingModel,
  texts: readonly string[],
  kind: "query" | "passage",
  file: string | undefined,
): Promise<Float32Array[]> {
  if (file !== undefined && existsSync(file)) {
    const bytes = await readFile(file);
    const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    if (all.length === texts.length * model.dimensions)
      return texts.map((_, at) => all.slice(at * model.dimensions, (at + 1) * model.dimensions));
  }
  const embedded = await model.embed(texts, kind);
  const vectors = embedded.filter((vector) => vector !== null);
  if (vectors.length < texts.length)
    throw new Error(`The model refuses ${texts.length - vectors.length} texts.`);
  if (file !== undefined)
    await writeFile(
      file,
      Buffer.concat(
        vectors.map((vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)),
      ),
    );
  return vectors;
}
