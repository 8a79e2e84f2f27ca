/** What changed between the hits of two settings. */
interface Ranked {
  readonly chunk_id: string;
}

export type Change =
  | { readonly kind: "same" | "only_left" | "only_right" }
  | { readonly kind: "up" | "down"; readonly by: number };

export interface Changes {
  /** Seen from the right side: `up` is a better place there. By the id of the chunk. */
  readonly of: ReadonlyMap<string, Change>;
  /** The Jaccard index of the two sets of chunks, 0 to 1; 1 if both are empty. */
  readonly overlap: number;
}

export function changesBetween(left: readonly Ranked[], right: readonly Ranked[]): Changes {
  const before = new Map(left.map(({ chunk_id: id }, rank) => [id, rank]));
  const after = new Map(right.map(({ chunk_id: id }, rank) => [id, rank]));
  const all = new Set([...before.keys(), ...after.keys()]);
  const of = new Map<string, Change>();
  let shared = 0;
  for (const id of all) {
    const from = before.get(id);
    const to = after.get(id);
    if (from !== undefined && to !== undefined) shared += 1;
    of.set(id, changeOf(from, to));
  }
  return { of, overlap: all.size === 0 ? 1 : shared / all.size };
}

function changeOf(from: number | undefined, to: number | undefined): Change {
  if (from === undefined) return { kind: "only_right" };
  if (to === undefined) return { kind: "only_left" };
  if (from === to) return { kind: "same" };
  return from > to ? { kind: "up", by: from - to } : { kind: "down", by: to - from };
}
