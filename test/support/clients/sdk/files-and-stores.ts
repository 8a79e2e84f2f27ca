/** The steps of `files_and_stores.py`, with the official client for JavaScript. */
import OpenAI, { toFile } from "openai";
import { until } from "../../until.ts";
import { type Program, type Steps, beginProgram } from "./steps.ts";

export interface Given {
  /** With `/v1`. */
  readonly base_url: string;
  readonly key: string;
  /** Of somebody in another organization. */
  readonly other_key: string;
  /** Of somebody who may only look. */
  readonly viewer_key: string;
  /** Reaches no private space. */
  readonly scoped_key: string;
  readonly space: string;
}

const FOX = "# Foxes\n\nThe fox digs her den under the roots of an old oak.\n";
const OWL = "# Owls\n\nThe owl sleeps in the church tower until the bells ring.\n";
const EEL = "# Eels\n\nThe eel swims to the Sargasso Sea to spawn.\n";
const QUICK = { pollIntervalMs: 50 };
const NOTHING = `file-${"0".repeat(32)}`;

const note = (name: string, text: string) =>
  toFile(Buffer.from(text), `${name}.md`, { type: "text/markdown" });

interface On {
  readonly client: OpenAI;
  readonly stranger: OpenAI;
  readonly given: Given;
  readonly step: Program["step"];
}

/** @returns what `iterable` gives, each as `pick` has it. */
async function all<T, U>(iterable: AsyncIterable<T>, pick: (one: T) => U): Promise<U[]> {
  const found: U[] = [];
  for await (const one of iterable) found.push(pick(one));
  return found;
}
const idsOf = (iterable: AsyncIterable<{ id: string }>) => all(iterable, ({ id }) => id);

const create = async (client: OpenAI, name: string, text: string): Promise<string> =>
  (await client.files.create({ file: await note(name, text), purpose: "assistants" })).id;

async function files({ client, stranger, step }: On): Promise<{ fox: string; owl: string }> {
  const { id: fox } = await step("files.create", async () =>
    client.files.create({ file: await note("fox", FOX), purpose: "assistants" }),
  );
  const { id: expiring } = await step("files.create expires_after", async () =>
    client.files.create({
      file: await note("short", EEL),
      purpose: "user_data",
      expires_after: { anchor: "created_at", seconds: 3_600 },
    }),
  );
  const { id: owl } = await step("files.create another", async () =>
    client.files.create({ file: await note("owl", OWL), purpose: "assistants" }),
  );
  await step("files.retrieve", () => client.files.retrieve(fox));
  await step("files.content", async () => (await client.files.content(fox)).text());
  await step("files.wait_for_processing", () =>
    client.files.waitForProcessing(fox, { pollInterval: 50, maxWait: 30_000 }),
  );
  await step("files.list", () => idsOf(client.files.list({ limit: 1 })));
  await step("files.list asc", () => idsOf(client.files.list({ order: "asc", limit: 100 })));
  await step("files.list purpose", () => idsOf(client.files.list({ purpose: "user_data" })));
  await step("files.list page", async () => {
    const { data, has_more } = await client.files.list({ limit: 2, after: owl });
    return { data, has_more };
  });
  await step("files.list of another", () => idsOf(stranger.files.list()));
  await step("files.retrieve of another", () => stranger.files.retrieve(fox));
  await step("files.content of another", () => stranger.files.content(fox));
  await step("files.retrieve unknown", () => client.files.retrieve("file-nothing"));
  await step("files.create wrong purpose", async () =>
    client.files.create({ file: await note("fox", FOX), purpose: "nonsense" as "assistants" }),
  );
  await step("files.delete", () => client.files.delete(expiring));
  await step("files.retrieve deleted", () => client.files.retrieve(expiring));
  return { fox, owl };
}

async function stores(on: On, fox: string): Promise<string> {
  const { client, stranger, given, step } = on;
  const own = client.vectorStores;
  const space = { space_id: given.space };
  const { id } = await step("vector_stores.create", () =>
    own.create({
      name: "Animals",
      file_ids: [fox],
      metadata: { ...space, team: "zoo" },
      expires_after: { anchor: "last_active_at", days: 7 },
      chunking_strategy: {
        type: "static",
        static: { max_chunk_size_tokens: 400, chunk_overlap_tokens: 100 },
      },
    }),
  );
  await step("vector_stores.create private", () => own.create({ name: "Mine" }));
  await step("vector_stores.create without a space", () =>
    client.withOptions({ apiKey: given.scoped_key }).vectorStores.create({ name: "Nowhere" }),
  );
  await step("vector_stores.create as a viewer", () =>
    client.withOptions({ apiKey: given.viewer_key }).vectorStores.create({ metadata: space }),
  );
  await step("vector_stores.files.poll", () => own.files.poll(id, fox, QUICK));
  await step("vector_stores.retrieve", () => own.retrieve(id));
  await step("vector_stores.update", () =>
    own.update(id, { name: "Beasts", metadata: { ...space, team: "park" }, expires_after: null }),
  );
  await step("vector_stores.list", () => idsOf(own.list({ limit: 1 })));
  await step("vector_stores.list before", async () => {
    const { data, has_more } = await own.list({ limit: 1, order: "asc", before: id });
    return { data, has_more };
  });
  await step("vector_stores.retrieve of another", () => stranger.vectorStores.retrieve(id));
  await step("vector_stores.retrieve unknown", () => own.retrieve("vs_nothing"));
  return id;
}

async function storeFiles({ client, step }: On, store: string, fox: string, owl: string): Promise<void> {
  const { files: own } = client.vectorStores;
  const at = { vector_store_id: store };
  await step("vector_stores.files.create", () =>
    own.create(store, { file_id: owl, attributes: { kind: "bird", legs: 2, awake: false } }),
  );
  await step("vector_stores.files.poll added", () => own.poll(store, owl, QUICK));
  await step("vector_stores.files.create again", () => own.create(store, { file_id: owl }));
  await step("vector_stores.files.upload_and_poll", async () => {
    const { id } = await own.uploadAndPoll(store, await note("eel", EEL), QUICK);
    return own.update(id, { ...at, attributes: { kind: "fish", legs: 0 } });
  });
  const cat = await step("vector_stores.files.upload", async () =>
    own.upload(store, await note("cat", "The cat purrs on the warm sill.")),
  );
  await step("vector_stores.files.poll uploaded", () => own.poll(store, cat.id, QUICK));
  await step("vector_stores.files.create_and_poll", async () => {
    const file_id = await create(client, "dog", "The dog guards the gate.");
    const body = { file_id, chunking_strategy: { type: "auto" as const }, attributes: { kind: "dog" } };
    return own.createAndPoll(store, body, QUICK);
  });
  await step("vector_stores.files.create_and_poll broken", async () => {
    const broken = await toFile(Buffer.from("%PDF-1.7 nothing that follows"), "broken.pdf");
    return own.uploadAndPoll(store, broken, QUICK);
  });
  await step("vector_stores.files.retrieve", () => own.retrieve(owl, at));
  await step("vector_stores.files.update", () =>
    own.update(owl, { ...at, attributes: { kind: "owl", legs: 2 } }),
  );
  await step("vector_stores.files.list", () => idsOf(own.list(store, { limit: 2 })));
  await step("vector_stores.files.list failed", () => idsOf(own.list(store, { filter: "failed" })));
  await step("vector_stores.files.list completed", () =>
    idsOf(own.list(store, { filter: "completed", order: "asc" })),
  );
  await step("vector_stores.files.content", () => all(own.content(fox, at), (one) => one));
  const seventeen = Object.fromEntries(Array.from({ length: 17 }, (_, number) => [`key ${number}`, "x"]));
  await step("vector_stores.files.create too many attributes", () =>
    own.create(store, { file_id: fox, attributes: seventeen }),
  );
  await step("vector_stores.files.update long attribute", () =>
    own.update(owl, { ...at, attributes: { kind: "x".repeat(513) } }),
  );
  await step("vector_stores.files.create unknown", () => own.create(store, { file_id: NOTHING }));
}

async function searches({ client, stranger, step }: On, store: string): Promise<void> {
  type Search = OpenAI.VectorStores.VectorStoreSearchParams;
  const search = (body: Search) => all(client.vectorStores.search(store, body), (one) => one);
  const names = async (body: Search) => (await search(body)).map(({ filename }) => filename);
  await step("vector_stores.search", () =>
    search({ query: "Where does the fox dig her den?", max_num_results: 3 }),
  );
  await step("vector_stores.search several", () =>
    names({ query: ["fox den", "eel sea"], max_num_results: 10 }),
  );
  await step("vector_stores.search comparison", () =>
    names({ query: "the animal", filters: { type: "eq", key: "kind", value: "owl" } }),
  );
  await step("vector_stores.search compound", async () => {
    const legs = { type: "gte", key: "legs", value: 2 } as const;
    const noDog = { type: "ne", key: "kind", value: "dog" } as const;
    const both = { type: "and", filters: [legs, noDog] } as const;
    const filters = { type: "or", filters: [{ type: "eq", key: "kind", value: "fish" }, both] };
    return (await names({ query: "the animal", filters: filters as Search["filters"] & {} })).toSorted();
  });
  await step("vector_stores.search threshold", async () => {
    const ranking_options = { ranker: "auto" as const, score_threshold: 0.2 };
    return (await search({ query: "fox den oak roots", ranking_options })).map(({ score }) => score);
  });
  await step("vector_stores.search hybrid", () => {
    const hybrid_search = { embedding_weight: 0.2, text_weight: 0.8 };
    const ranking_options = { ranker: "none" as const, hybrid_search };
    return names({ query: "fox den", ranking_options });
  });
  await step("vector_stores.search too many", () => search({ query: "fox", max_num_results: 51 }));
  await step("vector_stores.search of another", () => stranger.vectorStores.search(store, { query: "fox" }));
}

async function batches({ client, stranger, step }: On, store: string): Promise<void> {
  const { fileBatches: own } = client.vectorStores;
  const at = { vector_store_id: store };
  const { id } = await step("vector_stores.file_batches.create", async () => {
    const entries = ["lion", "lynx"].map(async (name) => ({
      file_id: await create(client, name, `The ${name} lives in the zoo.`),
      attributes: { kind: name },
    }));
    return own.create(store, { files: await Promise.all(entries) });
  });
  await step("vector_stores.file_batches.poll", () => own.poll(store, id, QUICK));
  await step("vector_stores.file_batches.retrieve", () => own.retrieve(id, at));
  await step("vector_stores.file_batches.list_files", () =>
    all(own.listFiles(id, { ...at, limit: 1 }), (one) => one),
  );
  await step("vector_stores.file_batches.create_and_poll", async () => {
    const file_ids = [await create(client, "bear", "The bear sleeps through the winter.")];
    return own.createAndPoll(store, { file_ids, attributes: { kind: "bear" } }, QUICK);
  });
  await step("vector_stores.file_batches.upload_and_poll", async () => {
    const swimming = ["otter", "beaver", "perch"].map((name) =>
      note(name, `The ${name} swims in the river.`),
    );
    return own.uploadAndPoll(store, { files: await Promise.all(swimming) }, QUICK);
  });
  const stopped = await step("vector_stores.file_batches.create another", async () =>
    own.create(store, { file_ids: [await create(client, "moth", "The moth flies to the lamp.")] }),
  );
  await step("vector_stores.files.retrieve waiting", () =>
    until("the file waits for the provider", async () => {
      const [found] = (await own.listFiles(stopped.id, at)).data;
      return found !== undefined && "waiting_for" in found && found.waiting_for !== null && found;
    }),
  );
  await step("vector_stores.file_batches.cancel", () => own.cancel(stopped.id, at));
  await step("vector_stores.file_batches.poll cancelled", () => own.poll(store, stopped.id, QUICK));
  await step("vector_stores.file_batches.create unknown", () => own.create(store, { file_ids: [NOTHING] }));
  await step("vector_stores.file_batches.retrieve of another", () =>
    stranger.vectorStores.fileBatches.retrieve(id, at),
  );
  await step("vector_stores counts", async () => (await client.vectorStores.retrieve(store)).file_counts);
}

async function ends({ client, step }: On, store: string, fox: string, owl: string): Promise<void> {
  const own = client.vectorStores;
  await step("vector_stores.files.delete", () => own.files.delete(owl, { vector_store_id: store }));
  await step("vector_stores.files.retrieve deleted", () =>
    own.files.retrieve(owl, { vector_store_id: store }),
  );
  await step("files.retrieve after its removal from a store", () => client.files.retrieve(owl));
  await step("vector_stores.delete", () => own.delete(store));
  await step("vector_stores.retrieve deleted", () => own.retrieve(store));
  await step("vector_stores.files.create in a deleted one", () => own.files.create(store, { file_id: fox }));
  await step("files.delete last", () => client.files.delete(fox));
  await step("vector_stores.list unauthorized", () =>
    client.withOptions({ apiKey: `sk-${"x".repeat(49)}` }).vectorStores.list(),
  );
}

export async function filesAndStores(given: Given): Promise<Steps> {
  const program = beginProgram();
  const client = new OpenAI({ baseURL: given.base_url, apiKey: given.key, maxRetries: 0 });
  const stranger = client.withOptions({ apiKey: given.other_key });
  const on: On = { client, stranger, given, step: program.step };
  const { fox, owl } = await files(on);
  const store = await stores(on, fox);
  await storeFiles(on, store, fox, owl);
  await searches(on, store);
  await batches(on, store);
  await ends(on, store, fox, owl);
  return program.end();
}
