/** Says what changed between two rankings of chunks. */

interface Ranked {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly score: number;
}

export interface RankChange {
  readonly chunk_id: string;
  readonly document_id: string;
  /** From 1; null if that side did not find it. */
  readonly left_rank: number | null;
  readonly right_rank: number | null;
  readonly left_score: number | null;
  readonly right_score: number | null;
  /** From left to right; `up` is towards the first place. */
  readonly change: "same" | "up" | "down" | "only_left" | "only_right";
}

/** Every chunk of either ranking: those of the left in its order, then those that only the right has. */
export function compareRankings(left: readonly Ranked[], right: readonly Ranked[]): RankChange[] {
  const [onLeft, onRight] = [placesOf(left), placesOf(right)];
  const all = [...left, ...right.filter((hit) => !onLeft.has(hit.chunk_id))];
  return all.map(({ chunk_id, document_id }) => {
    const [before, after] = [onLeft.get(chunk_id), onRight.get(chunk_id)];
    return {
      chunk_id,
      document_id,
      left_rank: before?.rank ?? null,
      right_rank: after?.rank ?? null,
      left_score: before?.score ?? null,
      right_score: after?.score ?? null,
      change: changeOf(before?.rank, after?.rank),
    };
  });
}

/** The share of all chunks that both rankings have (Jaccard); 1 if neither has any. */
export function overlapOf(changes: readonly RankChange[]): number {
  const shared = changes.filter(
    ({ left_rank: before, right_rank: after }) => before !== null && after !== null,
  );
  return changes.length === 0 ? 1 : shared.length / changes.length;
}

function placesOf(hits: readonly Ranked[]): Map<string, { rank: number; score: number }> {
  return new Map(hits.map(({ chunk_id, score }, at) => [chunk_id, { rank: at + 1, score }]));
}

function changeOf(before: number | undefined, after: number | undefined): RankChange["change"] {
  if (after === undefined) return "only_left";
  if (before === undefined) return "only_right";
  if (before === after) return "same";
  return after < before ? "up" : "down";
}
