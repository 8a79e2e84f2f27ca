/** Writes what was measured as one table in Markdown. */
import { percentile } from "../../report.ts";
import { type Measures, meanOf } from "./measures.ts";
import type { Reference } from "./reference.ts";
import { type Stages, meanMs } from "./stages.ts";

export interface Measured {
  /** Documents by words alone, by meaning alone, and by both; no question is in a side that was left out. */
  readonly sides: Readonly<Record<"words" | "dense" | "hybrid", readonly Measures[]>>;
  /** Milliseconds of each hybrid search, as its caller waited. */
  readonly times: readonly number[];
  /** Readings before and after the hybrid searches, which nothing else searched between. */
  readonly stages: { readonly before: Stages; readonly after: Stages };
}

export interface Row extends Measured {
  readonly collection: string;
  readonly documents: number;
  readonly reference: Reference | null;
}

const HEAD = [
  "collection",
  "documents",
  "questions",
  "words",
  "dense",
  "hybrid",
  "recall@100",
  "MRR@10",
  "reference",
  "embed query ms",
  "words ms",
  "dense ms",
  "scope and hits ms",
  "search p50 ms",
  "p95 ms",
];

const UNKNOWN = "–";

/** As docs/search.md writes them: without the zero. */
const share = (value: number): string => (Number.isNaN(value) ? UNKNOWN : value.toFixed(3).replace(/^0/, ""));
const ms = (value: number): string => (Number.isNaN(value) ? UNKNOWN : value.toFixed(1));

function cellsOf({ collection, documents, sides, reference, stages, times }: Row): string[] {
  const mean = (stage: Parameters<typeof meanMs>[2]): number => meanMs(stages.before, stages.after, stage);
  return [
    collection,
    documents.toLocaleString("en"),
    sides.words.length.toLocaleString("en"),
    share(meanOf(sides.words, "ndcg")),
    share(meanOf(sides.dense, "ndcg")),
    share(meanOf(sides.hybrid, "ndcg")),
    share(meanOf(sides.hybrid, "recall")),
    share(meanOf(sides.hybrid, "mrr")),
    reference === null ? UNKNOWN : `${share(reference.ndcg)}${reference.isStemmed ? "" : "*"}`,
    ms(mean("embed query")),
    ms(mean("sparse")),
    ms(mean("dense")),
    ms(mean("wait") + mean("scope") + mean("hits")),
    ms(percentile(times, 0.5)),
    ms(percentile(times, 0.95)),
  ];
}

/** The table, and under it what its columns mean. */
export function tableOf(rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const versions = rows.find(({ reference }) => reference !== null)?.reference?.versions;
  const notes = [
    "words, dense, hybrid and reference are nDCG@10; recall@100 and MRR@10 are those of hybrid. " +
      "Milliseconds of parts are means over the hybrid searches: words and dense run at the same time, and " +
      "scope and hits have the wait for connections with them. p50 and p95 are of whole searches, as " +
      "their caller waits.",
    ...(versions === undefined
      ? []
      : [`reference: ${versions}, k1 1.2, b 0.75, whole documents, stemmed by Snowball.`]),
    ...(rows.some(({ reference }) => reference?.isStemmed === false)
      ? [
          "\\* Snowball has no stemmer for the language: bm25s' plain tokens, which are whole phrases " +
            "where words are not parted by spaces.",
        ]
      : []),
  ];
  return [line(HEAD), `|${HEAD.map(() => "---").join("|")}|`, ...rows.map((row) => line(cellsOf(row)))]
    .join("\n")
    .concat("\n\n", notes.join("\n"));
}
