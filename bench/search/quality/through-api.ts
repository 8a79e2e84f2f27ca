/**
 * Measures retrieval as a caller sees it: uploads every text to a whole service with the built-in model, and
 * searches. Documents rank by their best chunk.
 */
import { eachOf } from "../../../src/activities/pipeline/concurrency.ts";
import { freePort } from "../../../src/embedded/ports.ts";
import { call, ended, upload } from "../../../test/support/clients/client.ts";
import setup from "../../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../../test/support/stack/stack.ts";
import { provisionTenants } from "../../../test/support/tenants/provision.ts";
import { newTenants } from "../../../test/support/tenants/tenants.ts";
import { say } from "../../report.ts";
import { type Collection, type Entry, type Question, textOf } from "./collection.ts";
import { DEPTH, type Measures, measure } from "./measures.ts";
import { stagesIn } from "./stages.ts";
import type { Measured } from "./table.ts";

const UPLOADERS = 8;
const INDEXED_WITHIN_MS = 1_800_000;

interface Service {
  readonly stack: Stack;
  readonly metricsPort: number;
}

/** A space with the texts of a collection, in an organization of its own. */
interface Filled {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
  /** The collection's names of documents, by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** Starts the service; metrics are those of its API alone, which searches. */
async function startService(): Promise<Service> {
  const metricsPort = await freePort();
  const stack = await startStack({
    localModels: true,
    withoutWorker: true,
    env: { METRICS_PORT: String(metricsPort) },
  });
  stack.restartWorker({ METRICS_PORT: String(await freePort()) });
  return { stack, metricsPort };
}

/** Makes an organization, uploads the corpus into a space of it and waits until all is indexed. */
async function fill({ url, database, env }: Stack, corpus: readonly Entry[]): Promise<Filled> {
  const tenants = newTenants();
  await provisionTenants(database.db, env, tenants);
  const [key, spaceId] = [tenants.keys.owner, tenants.spaces.research];
  const names = new Map<string, string>();
  await eachOf([...corpus.entries()], UPLOADERS, async ([at, entry]) => {
    const { id } = await upload(url, key, spaceId, textOf(entry), `${at}.txt`);
    names.set(id, entry._id);
  });
  for (const id of names.keys()) await ended(url, key, id, INDEXED_WITHIN_MS);
  return { url, key, spaceId, names };
}

/** The documents that a search finds, best first. @param rest fields of the request beside the usual ones */
async function search(
  { url, key, spaceId, names }: Filled,
  query: string,
  rest: object = {},
): Promise<string[]> {
  const { status, body } = await call(url, key, "POST", "/data/hybrid-search", {
    query,
    space_id: spaceId,
    limit: DEPTH,
    max_chunks_per_document: 1,
    ...rest,
  });
  if (status !== 200) throw new Error(`a search answered ${status}: ${JSON.stringify(body)}`);
  return body.results.map((hit: { readonly document_id: string }) => names.get(hit.document_id)!);
}

async function measureQuestions(
  { metricsPort }: Service,
  filled: Filled,
  questions: readonly Question[],
): Promise<Measured> {
  const stages = async () => stagesIn(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
  const hybrid: Measures[] = [];
  const times: number[] = [];
  const before = await stages();
  for (const { text, grades } of questions) {
    const started = performance.now();
    const found = await search(filled, text);
    times.push(performance.now() - started);
    hybrid.push(measure(found, grades));
  }
  const after = await stages();
  // Only now: the vectors of questions are kept, so that the first search of each is the one that embeds it.
  const side = async (alpha: number): Promise<Measures[]> => {
    const all: Measures[] = [];
    for (const { text, grades } of questions)
      all.push(measure(await search(filled, text, { alpha }), grades));
    return all;
  };
  return {
    sides: { words: await side(0), dense: await side(1), hybrid },
    times,
    stages: { before, after },
  };
}

/** One service for all, with an organization for each collection. */
export async function measureThroughApi(
  collections: AsyncIterable<Collection>,
  onMeasured: (collection: Collection, measured: Measured) => Promise<void>,
): Promise<void> {
  const stop = await setup();
  try {
    const service = await startService();
    try {
      for await (const collection of collections) {
        const started = performance.now();
        const filled = await fill(service.stack, collection.corpus);
        const seconds = ((performance.now() - started) / 1_000).toFixed(0);
        say(`${collection.name}: ${collection.corpus.length} documents indexed in ${seconds} s`);
        await onMeasured(collection, await measureQuestions(service, filled, collection.questions));
      }
    } finally {
      await service.stack.close();
    }
  } finally {
    await stop();
  }
}
