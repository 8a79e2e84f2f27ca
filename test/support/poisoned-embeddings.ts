/** What the scripted provider answers to texts: their vectors, or what it was told that a text does instead. */
import { hashedEmbedding } from "./hashed-embedding.ts";

/**
 * What a text does to a request that holds it: a status refuses the whole request, the others spoil the vector of this text alone. `missing`
 * leaves it out of the answer.
 */
export type Poison = { status: number } | "zeros" | "nan" | "short" | "missing";

type PoisonOf = (text: string) => Poison | undefined;

/** The status that the whole request is refused with, where a text of it asks for one. */
export function refusalOf(texts: readonly string[], poisonOf: PoisonOf): { status: number } | undefined {
  return texts.map(poisonOf).find((poison) => typeof poison === "object");
}

function spoiled(vector: Float32Array, poison: Poison | undefined): Float32Array {
  if (poison === "zeros") return vector.fill(0);
  if (poison === "nan") return vector.fill(Number.NaN, 1, 2);
  return poison === "short" ? vector.slice(0, 3) : vector;
}

interface How {
  readonly dimensions: number;
  /** As little-endian 32-bit numbers; else as a list. */
  readonly inBase64: boolean;
  readonly poisonOf: PoisonOf;
}

/** The entries of an answer, in the order of the texts. */
export function embeddingsOf(texts: readonly string[], { dimensions, inBase64, poisonOf }: How): object[] {
  return texts.flatMap((text, index) => {
    const poison = poisonOf(text);
    const vector = spoiled(hashedEmbedding(text, dimensions), poison);
    const embedding = inBase64 ? Buffer.from(vector.buffer).toString("base64") : Array.from(vector);
    return poison === "missing" ? [] : [{ object: "embedding", index, embedding }];
  });
}
