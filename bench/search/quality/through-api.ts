/**
 * Measures retrieval as a caller sees it: uploads every text to a whole service with the built-in model, and
 * searches. Documents rank by their best chunk.
 */
import { eachOf } from "../../../src/activities/pipeline/concurrency.ts";
import { call, ended, upload } from "../../../test/support/clients/client.ts";
import setup from "../../../test/support/run/global-setup.ts";
import { startStack } from "../../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../../test/support/tenants/tenants.ts";
import { say } from "../../report.ts";
import { type Collection, type Entry, textOf } from "./collection.ts";
import { DEPTH, type Measures, meansOf, measure } from "./measures.ts";

const UPLOADERS = 8;
const INDEXED_WITHIN_MS = 1_800_000;

interface ApiHit {
  readonly document_id: string;
  readonly dense_score: number | null;
  readonly sparse_score: number | null;
}

/** Uploads the corpus and waits until all is indexed. @returns the collection's names by document id */
async function uploadAll(url: string, corpus: readonly Entry[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  await eachOf([...corpus.entries()], UPLOADERS, async ([at, entry]) => {
    const { id } = await upload(url, KEYS.editor, SPACES.research, textOf(entry), `${at}.txt`);
    names.set(id, entry._id);
  });
  for (const id of names.keys()) await ended(url, KEYS.editor, id, INDEXED_WITHIN_MS);
  return names;
}

async function search(url: string, query: string): Promise<readonly ApiHit[]> {
  const { body } = await call(url, KEYS.viewer, "POST", "/data/hybrid-search", {
    query,
    space_id: SPACES.research,
    limit: DEPTH,
    max_chunks_per_document: 1,
  });
  return body.results;
}

async function measureQueries(
  url: string,
  { queries, judgements }: Collection,
  names: ReadonlyMap<string, string>,
): Promise<Record<"sparse share" | "dense share" | "hybrid", Measures[]>> {
  const sparse: Measures[] = [];
  const dense: Measures[] = [];
  const hybrid: Measures[] = [];
  for (const query of queries) {
    const grades = judgements.get(query._id);
    if (grades === undefined) continue;
    const hits = await search(url, query.text);
    const measureBy = (share: (hit: ApiHit) => number): Measures => {
      const ranking = hits.toSorted((one, other) => share(other) - share(one));
      return measure(
        ranking.map((hit) => names.get(hit.document_id)!),
        grades,
      );
    };
    hybrid.push(measureBy(() => 0));
    sparse.push(measureBy((hit) => hit.sparse_score ?? 0));
    dense.push(measureBy((hit) => hit.dense_score ?? 0));
  }
  return { "sparse share": sparse, "dense share": dense, hybrid };
}

export async function measureThroughApi(collection: Collection): Promise<void> {
  const stop = await setup();
  const stack = await startStack({ localModels: true });
  try {
    const started = performance.now();
    const names = await uploadAll(stack.url, collection.corpus);
    say(
      `${collection.corpus.length} documents uploaded and indexed in ` +
        `${((performance.now() - started) / 1000).toFixed(0)} s`,
    );
    const results = await measureQueries(stack.url, collection, names);
    say(`${results.hybrid.length} queries through the API; a share alone orders the ${DEPTH} hits of both`);
    say("             nDCG@10 recall@100  MRR@10");
    for (const [side, all] of Object.entries(results)) say(`${side.padEnd(12)} ${meansOf(all)}`);
  } finally {
    await stack.close();
    await stop();
  }
}
