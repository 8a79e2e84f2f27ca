/**
 * Makes the scripted provider's answers to texts: their vectors, or the fault that it was told a text causes.
 */
import { hashedEmbedding } from "./hashed-embedding.ts";

/**
 * What a text does to its request: a fault is the answer to the whole request, the others spoil the vector of
 * this text alone. `missing` leaves it out of the answer.
 */
export type Poison = PoisonFault | "zeros" | "nan" | "short" | "missing";

type PoisonFault = { status: number } | { hang: true } | { garbage: true } | { cut: true };

type PoisonOf = (text: string) => Poison | undefined;

/** The answer to the whole request, if one of its texts has a fault. */
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
  /** True for little-endian 32-bit numbers in base64, false for a list. */
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
