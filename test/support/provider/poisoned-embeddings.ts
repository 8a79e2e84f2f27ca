/** What the scripted provider answers to texts: their vectors, or what it was told that a text does instead. */
import { hashedEmbedding } from "./hashed-embedding.ts";

/**
 * What a text does to a request that holds it: a fault is the answer to the whole request, the others spoil the vector of this text alone. `missing`
 * leaves it out of the answer.
 */
export type Poison = PoisonFault | "zeros" | "nan" | "short" | "missing";

type PoisonFault = { status: number } | { garbage: true } | { cut: true };

type PoisonOf = (text: string) => Poison | undefined;

/** What the whole request is answered with instead, where a text of it asks for that. */
export function faultOf(texts: readonly string[], poisonOf: PoisonOf): PoisonFault | undefined {
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
