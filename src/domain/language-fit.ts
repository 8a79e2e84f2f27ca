/**
 * How well an embedding model tells texts of a language apart, measured without labels: chunks that follow
 * each other in a document are about the same, chunks of different documents mostly are not. A model that
 * knows the language puts the former nearer to each other; one that does not puts all texts at chance.
 * @see docs/decisions/0042-what-the-model-knows.md
 */

/** The share of comparisons that a model wins which sees nothing in the texts. */
const CHANCE = 0.5;
/**
 * The share that it wins in languages that it knows. The built-in model has .947 for German, .99 for English
 * and .67 for Chinese; with anything from .85 to 1 here the same languages count as known.
 */
const KNOWN = 0.9;
/** Below this {@link languageFit} the model hardly tells texts apart. No measured language is in .43 to 1. */
const LEAST_KNOWN_FIT = 0.5;

/** With fewer pairs the share's standard error is above .05, an eighth of the way from chance to known. */
export const LEAST_PAIRS = 32;
/** The standard error is then .02, and four times the vectors would halve it. */
export const MOST_PAIRS = 256;
/** Strangers that a pair is compared with. More would not make the share more certain: pairs would. */
const STRANGERS = 32;
/**
 * From this cosine on, a chunk of another document counts as a copy. Copies tell nothing: they are as near to
 * every text as the chunk itself is.
 */
const COPY_COSINE = 0.999;

/** Says 0 for a model that tells texts apart by chance, and 1 from where it knows their language. */
export function languageFit(auc: number): number {
  return Math.min(1, Math.max(0, (auc - CHANCE) / (KNOWN - CHANCE)));
}

/** Whether the model knows the language of the texts, as far as vectors should weigh in their ranking. */
export function isLanguageKnown(fit: number): boolean {
  return fit >= LEAST_KNOWN_FIT;
}

export interface SampledChunk {
  readonly runNum: number;
  /** Equal for equal texts. */
  readonly content: string;
  readonly vector: Float32Array;
}

/** A chunk, and the next one of its document. */
export type Neighbours = readonly [SampledChunk, SampledChunk];

export interface Measured {
  /** Null with fewer than {@link LEAST_PAIRS} pairs. */
  readonly auc: number | null;
  /** Pairs that had strangers to be compared with. */
  readonly pairs: number;
}

/**
 * Compares each pair with chunks of the pairs that come behind it.
 * @param sample in an order that has nothing to do with what the texts say.
 */
export function measureAuc(sample: readonly Neighbours[]): Measured {
  const units = sample
    .filter(([one, next]) => one.content !== next.content)
    .map(([one, next]): Neighbours => [asUnit(one), asUnit(next)]);
  const shares = units.flatMap((_, at) => shareOfWins(units, at) ?? []);
  if (shares.length < LEAST_PAIRS) return { auc: null, pairs: shares.length };
  return { auc: shares.reduce((sum, share) => sum + share, 0) / shares.length, pairs: shares.length };
}

/** @returns undefined if there is nothing to compare with. */
function shareOfWins(units: readonly Neighbours[], at: number): number | undefined {
  const pair = units[at]!;
  const near = cosine(...pair);
  let compared = 0;
  let won = 0;
  for (let step = 1; step < units.length && compared < STRANGERS; step++) {
    for (const other of units[(at + step) % units.length]!) {
      if (isSameText(pair, other)) continue;
      const far = cosine(pair[0], other);
      // Where the model tells not even the pair apart, it takes everything for a copy, and that must count.
      if (near < COPY_COSINE && Math.max(far, cosine(pair[1], other)) >= COPY_COSINE) continue;
      compared++;
      won += wins(near, far);
    }
  }
  return compared === 0 ? undefined : won / compared;
}

/** Whether the chunk is of the pair's document, or has the text of one of the pair. */
const isSameText = (pair: Neighbours, { runNum, content }: SampledChunk): boolean =>
  runNum === pair[0].runNum || pair.some((one) => one.content === content);

function wins(near: number, far: number): number {
  if (near === far) return 0.5;
  return near > far ? 1 : 0;
}

function asUnit(chunk: SampledChunk): SampledChunk {
  const length = Math.sqrt(cosine(chunk, chunk)) || 1;
  return { ...chunk, vector: chunk.vector.map((number) => number / length) };
}

/** The cosine if both vectors have length 1. */
function cosine(one: SampledChunk, other: SampledChunk): number {
  let sum = 0;
  for (let at = 0; at < one.vector.length; at++) sum += one.vector[at]! * other.vector[at]!;
  return sum;
}

/** A run of a document, and how many chunks it has. */
export interface SampledRun {
  readonly runNum: number;
  readonly chunks: number;
}

/** The chunk `index` of the run and the one behind it. */
export interface PairPlace {
  readonly runNum: number;
  readonly index: number;
}

/**
 * Chooses up to {@link MOST_PAIRS} pairs of neighbours: from all runs equally many, as far as they have so
 * many, spread over each. Pairs of one run do not overlap if it is long enough. Pairs that follow each other
 * in the result are of different runs, so that each has strangers close behind it.
 */
export function choosePairs(runs: readonly SampledRun[]): PairPlace[] {
  const taken = runs.map(() => 0);
  let total = 0;
  for (let hasTaken = true; hasTaken && total < MOST_PAIRS;) {
    hasTaken = false;
    for (const [at, { chunks }] of runs.entries()) {
      if (total === MOST_PAIRS || taken[at]! >= chunks - 1) continue;
      taken[at]!++;
      total++;
      hasTaken = true;
    }
  }
  const turns = runs.flatMap(({ runNum, chunks }, at) =>
    Array.from({ length: taken[at]! }, (_, turn) => ({
      turn,
      place: { runNum, index: Math.floor(((turn + 0.5) * (chunks - 1)) / taken[at]!) },
    })),
  );
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ place }) => place);
}
