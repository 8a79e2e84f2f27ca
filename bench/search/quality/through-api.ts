/**
 * Measures retrieval as a caller sees it: uploads every text to a whole service with the built-in model, and
 * searches. Documents rank by their best chunk.
 */
import { mapAtMost } from "../../../src/process/concurrency/settle-all.ts";
import type { SearchHit } from "../../../src/search/request.ts";
import { hybridSearch } from "../../../test/support/search/hybrid-search.ts";
import type { EmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { createLocalMiniLm } from "../../../src/models/embedding/local-minilm.ts";
import { freePort } from "../../../src/embedded/ports.ts";
import { call, ended, upload } from "../../../test/support/clients/client.ts";
import setup from "../../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../../test/support/stack/stack.ts";
import { provisionTenants } from "../../../test/support/tenants/provision.ts";
import { type Tenants, newTenants } from "../../../test/support/tenants/tenants.ts";
import { say } from "../../report.ts";
import { type Collection, type Entry, type Question, textOf } from "./collection.ts";
import { sayConditions } from "./conditions.ts";
import { DEPTH, type Measures, measure } from "./measures.ts";
import { stagesIn } from "./stages.ts";
import type { Measured } from "./table.ts";

const UPLOADERS = 8;
const INDEXED_WITHIN_MS = 1_800_000;

interface Service {
  readonly stack: Stack;
  readonly metricsPort: number;
  /** That of the service once more, for what the API cannot be asked. */
  readonly model: EmbeddingModel;
}

/** A space with the texts of a collection, in an organization of its own. */
interface Filled {
  readonly url: string;
  readonly tenants: Tenants;
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
  return { stack, metricsPort, model: createLocalMiniLm() };
}

/** Makes an organization, uploads the corpus into a space of it and waits until all is indexed. */
async function fill({ url, database, env }: Stack, corpus: readonly Entry[]): Promise<Filled> {
  const tenants = newTenants();
  await provisionTenants(database.db, env, tenants);
  const [key, spaceId] = [tenants.keys.owner, tenants.spaces.research];
  const names = new Map<string, string>();
  await mapAtMost(UPLOADERS, [...corpus.entries()], async ([at, entry]) => {
    const { id } = await upload(url, key, spaceId, textOf(entry), `${at}.txt`);
    names.set(id, entry._id);
  });
  for (const id of names.keys()) await ended(url, key, id, INDEXED_WITHIN_MS);
  return { url, tenants, names };
}

/** What every search asks for beside its query. */
const WANTED = { limit: DEPTH, max_chunks_per_document: 1 };

type Search = (query: string) => Promise<readonly Pick<SearchHit, "document_id">[]>;

const throughApi =
  ({ url, tenants }: Filled): Search =>
  async (query) => {
    const { status, body } = await call(url, tenants.keys.owner, "POST", "/data/hybrid-search", {
      ...WANTED,
      query,
      space_id: tenants.spaces.research,
    });
    if (status !== 200) throw new Error(`a search answered ${status}: ${JSON.stringify(body)}`);
    return body.results;
  };

/** Searches by one side alone, which the API has no parameter for: by its function, in the same index. */
async function oneSide({ stack, model }: Service, { tenants }: Filled, alpha: 0 | 1): Promise<Search> {
  const { db } = stack.database;
  const numOf = async (table: "organizations" | "spaces", id: string) => {
    const { rows } = await db.owner.query<{ num: number }>(`select num from ${table} where id = $1`, [id]);
    return { id, num: rows[0]!.num };
  };
  const scope = {
    organization: await numOf("organizations", tenants.acme),
    space: await numOf("spaces", tenants.spaces.research),
  };
  const embed = async (text: string): Promise<Float32Array> => (await model.embed([text], "query"))[0]!;
  return async (query) =>
    (await hybridSearch({ db, queryEmbedding: { model, embed } }, scope, { ...WANTED, query, alpha }))
      .results;
}

async function measureQuestions(
  service: Service,
  filled: Filled,
  questions: readonly Question[],
): Promise<Measured> {
  const stages = async () =>
    stagesIn(await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text());
  const times: number[] = [];
  const measured = async (search: Search): Promise<Measures[]> => {
    const all: Measures[] = [];
    for (const { text, grades } of questions) {
      const started = performance.now();
      const hits = await search(text);
      times.push(performance.now() - started);
      const ranking = hits.map((hit) => filled.names.get(hit.document_id)!);
      all.push(measure(ranking, grades));
    }
    return all;
  };
  const before = await stages();
  const hybrid = await measured(throughApi(filled));
  const after = await stages();
  const timesOfHybrid = [...times];
  return {
    sides: {
      words: await measured(await oneSide(service, filled, 0)),
      dense: await measured(await oneSide(service, filled, 1)),
      hybrid,
    },
    times: timesOfHybrid,
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
      await sayConditions(service.stack.database.db, service.model);
      for await (const collection of collections) {
        const started = performance.now();
        const filled = await fill(service.stack, collection.corpus);
        const seconds = ((performance.now() - started) / 1_000).toFixed(0);
        say(`${collection.name}: ${collection.corpus.length} documents indexed in ${seconds} s`);
        await onMeasured(collection, await measureQuestions(service, filled, collection.questions));
      }
    } finally {
      await service.model.close();
      await service.stack.close();
    }
  } finally {
    await stop();
  }
}
