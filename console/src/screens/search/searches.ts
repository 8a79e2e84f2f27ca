/** The search of the lab, or two of them and what changed between their rankings. */
import type { Holdfast, Schemas, SearchHit } from "@holdfast/client";
import { useQuery } from "@tanstack/react-query";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { type Settings, requestOf } from "./settings.ts";

export type RankChange = Schemas["RankChange"];

interface Side {
  readonly hits: readonly SearchHit[];
  /** Milliseconds. */
  readonly took: number;
}

export interface Searches {
  readonly left: Side;
  /** These three are there where two settings are compared. */
  readonly right?: Side;
  /** By the id of the chunk. */
  readonly changes?: ReadonlyMap<string, RankChange>;
  /** The Jaccard index of the two sets of chunks, 0 to 1. */
  readonly overlap?: number;
}

/** @param right undefined: nothing is compared */
export function useSearches(
  q: string | undefined,
  left: Settings,
  right: Settings | undefined,
  spaces: ReadonlyArray<{ readonly id: string }>,
) {
  const holdfast = useHoldfast();
  const reached = spaces.map(({ id }) => id);
  const first = requestOf(q ?? "", left, reached);
  const second = right === undefined ? undefined : requestOf(q ?? "", right, reached);
  return useQuery({
    queryKey: keyOf("answers", "search", { first, second }),
    queryFn: () => (second === undefined ? searchOnce(holdfast, first) : compare(holdfast, first, second)),
    enabled: q !== undefined && reached.length > 0,
  });
}

type Request = Schemas["HybridSearch"];

/** Its time is the browser's, with the way to the service and back. */
async function searchOnce({ api }: Holdfast, body: Request): Promise<Searches> {
  const startedAt = performance.now();
  const { results } = await answerOf(api.POST("/v1/data/hybrid-search", { body }));
  return { left: { hits: results, took: performance.now() - startedAt } };
}

async function compare({ api }: Holdfast, left: Request, right: Request): Promise<Searches> {
  const answer = await answerOf(api.POST("/v1/data/hybrid-search/compare", { body: { left, right } }));
  return {
    left: { hits: answer.left.results, took: answer.left_ms },
    right: { hits: answer.right.results, took: answer.right_ms },
    changes: new Map(answer.changes.map((change) => [change.chunk_id, change])),
    overlap: answer.overlap,
  };
}
