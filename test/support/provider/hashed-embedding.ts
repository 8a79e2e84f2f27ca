/**
 * Embeds texts without a model: a hashed bag of words, similar for texts that share words, and the same on
 * every run.
 */

/** FNV-1a, 32 bits. */
function hash(word: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < word.length; index++) {
    value = Math.imul(value ^ word.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** A vector of unit length, also for a text without words. */
export function hashedEmbedding(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const bits = hash(word);
    vector[bits % dimensions]! += bits & 0x80000000 ? 1 : -1;
  }
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) {
    vector[0] = 1;
    square = 1;
  }
  const length = Math.sqrt(square);
  for (let index = 0; index < dimensions; index++) vector[index]! /= length;
  return vector;
}
