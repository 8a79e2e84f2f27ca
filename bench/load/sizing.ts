/**
 * What a process, a slot of a worker, a connection and a chunk cost, measured on stacks of its own, and what
 * that makes of large installations. Linux alone (/proc).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import setup from "../../test/support/run/global-setup.ts";
import { ended, upload } from "../../test/support/clients/client.ts";
import { makeLongPdf } from "../../test/support/files/text.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import {
  commandOf,
  cpuSeconds,
  parentOf,
  parserProcesses,
  peakOf,
  privateBytes,
  residentMegabytes,
  treeOf,
} from "../process-tree.ts";
import { makeCorpus } from "../search/corpus.ts";

const SECTIONS = 10;
const UPLOADERS = 8;
const DIMENSIONS = 384;
const DOCUMENTS = { provider: 300, builtIn: 24 };
/** A phase that takes longer is judged by what is done until then. */
const PHASE_MS = 80_000;
const PDFS = 4;
const PDF_PAGES = 100;
/** Of `parse` and `embed`. */
const SLOTS = 8;
const MEBIBYTE = 1_048_576;
const PAPER = [10e6, 100e6, 1e9];

const corpus = makeCorpus(5, 2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const row = (what: string, cost: string): void => say(`| ${what} | ${cost} |`);
const mebibytes = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;

/**
 * English words alone, so that a model takes as many tokens for a text as of real ones; rarer words than it
 * knows are made of two.
 */
const vocabulary = (
  await readFile(join(import.meta.dirname, "../../models/all-minilm-l6-v2-int8/vocab.txt"), "utf8")
)
  .split("\n")
  .filter((word) => /^[a-z]{3,}$/.test(word));
const wordOf = (rank: number): string =>
  vocabulary[rank] ??
  `${vocabulary[rank % vocabulary.length]}${vocabulary[Math.floor(rank / vocabulary.length)]}`;
const section = (at: number): string =>
  `## Section ${at}\n\n${corpus.chunk(at).ranks.map(wordOf).join(" ")}.\n`;
const textOf = (document: number): string =>
  Array.from({ length: SECTIONS }, (_, index) => section(document * SECTIONS + index)).join("\n");

async function rows<T>(stack: Stack, query: string): Promise<T[]> {
  return (await stack.database.db.owner.query(query)).rows as T[];
}

interface Pids {
  readonly API: number;
  readonly worker: number;
  readonly Postgres: number;
  readonly Temporal: number;
}

/** Postgres is the bench's, Temporal the stack's own. */
async function pidsOf(stack: Stack): Promise<Pids> {
  const [backend] = await rows<{ pid: number }>(stack, "select pg_backend_pid() as pid");
  const port = stack.temporalAddress.split(":").at(-1)!;
  return {
    API: stack.api.child.pid!,
    worker: stack.worker.child.pid!,
    Postgres: await parentOf(backend!.pid),
    Temporal: await childWith(port),
  };
}

async function childWith(argument: string): Promise<number> {
  for (const pid of await treeOf(process.pid)) if ((await commandOf(pid)).includes(argument)) return pid;
  throw new Error(`no process below this one has the argument ${argument}`);
}

async function cpuOf(pids: Pids): Promise<Record<keyof Pids, number>> {
  const { API, worker, Postgres, Temporal } = pids;
  return {
    API: await cpuSeconds(API),
    worker: await cpuSeconds(worker),
    Postgres: await cpuSeconds(Postgres),
    Temporal: await cpuSeconds(Temporal),
  };
}

async function memoryOf(pid: number): Promise<string> {
  const resident = await residentMegabytes(pid);
  return (
    `${resident} MB resident, with its children ${mebibytes(await privateBytes(await treeOf(pid)))} ` +
    "private"
  );
}

async function done(stack: Stack): Promise<{ documents: number; chunks: number }> {
  return (
    await rows<{ documents: number; chunks: number }>(
      stack,
      "select (select count(*)::int from pipeline_runs where status = 'completed') as documents, (select count(*)::int from embedding_cache) as chunks",
    )
  )[0]!;
}

interface Ingested {
  readonly seconds: number;
  readonly documents: number;
  readonly chunks: number;
  readonly cpu: Record<keyof Pids, number>;
  /** Most private bytes of the worker and its parsers. */
  readonly peakBytes: number;
}

async function ingest(stack: Stack, count: number): Promise<Ingested> {
  const pids = await pidsOf(stack);
  const [before, cpuBefore, start] = [await done(stack), await cpuOf(pids), performance.now()];
  let [next, peakBytes] = [0, 0];
  const watch = async (): Promise<void> =>
    void (peakBytes = Math.max(peakBytes, await privateBytes(await treeOf(pids.worker))));
  const watching = setInterval(() => void watch(), 500);
  const isLate = (): boolean => performance.now() - start > PHASE_MS;
  const uploader = async (): Promise<void> => {
    for (let at = next++; at < count && !isLate(); at = next++)
      await upload(stack.url, KEYS.editor, SPACES.research, textOf(at), `document-${at}.md`);
  };
  await Promise.all(Array.from({ length: UPLOADERS }, uploader));
  let now = await done(stack);
  while (now.documents - before.documents < count && !isLate()) {
    await sleep(50);
    now = await done(stack);
  }
  const [seconds, cpuAfter] = [(performance.now() - start) / 1_000, await cpuOf(pids)];
  clearInterval(watching);
  await watch();
  const cpu = Object.fromEntries(
    Object.entries(cpuAfter).map(([name, spent]) => [name, spent - cpuBefore[name as keyof Pids]]),
  ) as Ingested["cpu"];
  return {
    seconds,
    documents: now.documents - before.documents,
    chunks: now.chunks - before.chunks,
    cpu,
    peakBytes,
  };
}

/** Milliseconds of processor time for one of `count`. */
const each = (seconds: number, count: number): string =>
  count === 0 ? "–" : `${((1_000 * seconds) / count).toFixed(1)} ms`;

function sayIngested(what: string, { seconds, documents, chunks, cpu }: Ingested): void {
  const rate = `${(documents / seconds).toFixed(1)} documents/s, ${(chunks / seconds).toFixed(1)} chunks/s`;
  row(
    `${what}: ${documents} documents of ${textOf(0).length} characters, ` +
      `${(chunks / documents).toFixed(1)} chunks, by ${UPLOADERS} uploaders, all processes on these cores`,
    rate,
  );
  for (const [name, spent] of Object.entries(cpu))
    row(
      `… processor time of ${name}`,
      `${each(spent, documents)} a document, ${each(spent, chunks)} a chunk`,
    );
  row(
    "… so one core that a worker has for itself does",
    `${(documents / cpu.worker).toFixed(1)} documents/s, ${(chunks / cpu.worker).toFixed(1)} chunks/s`,
  );
}

const TABLES = `select case when relname ~ '^embeddings_\\d' then 'embeddings' else relname end as name, sum(pg_total_relation_size(c.oid))::float8 as bytes
  from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r' group by 1`;

async function sizes(stack: Stack): Promise<Map<string, number>> {
  return new Map(
    (await rows<{ name: string; bytes: number }>(stack, TABLES)).map(({ name, bytes }) => [name, bytes]),
  );
}

function saySizes(before: Map<string, number>, after: Map<string, number>, chunks: number): number {
  const grown = [...after].map(
    ([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / chunks] as const,
  );
  const sum = grown.reduce((bytes, [, more]) => bytes + more, 0);
  row(
    `chunk in Postgres, over ${chunks} chunks of ${DIMENSIONS} dimensions, with indexes and free space`,
    `${Math.round(sum)} bytes`,
  );
  const large = grown.filter(([, bytes]) => bytes >= sum / 50).toSorted((one, other) => other[1] - one[1]);
  row("… of it", large.map(([name, bytes]) => `${name} ${Math.round(bytes)}`).join(", "));
  return sum;
}

async function sayConnections(stack: Stack): Promise<void> {
  const backends = await rows<{ pid: number }>(
    stack,
    "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  const bytes = await privateBytes(backends.map(({ pid }) => pid));
  row(
    `connection of Postgres, idle after use: mean of ${backends.length}`,
    `${mebibytes(bytes / backends.length)} private`,
  );
}

async function sayParsers(stack: Stack): Promise<void> {
  const worker = stack.worker.child.pid!;
  const watched = peakOf(() => parserProcesses(worker));
  const cpu = await cpuSeconds(worker);
  const made = await Promise.all(
    Array.from({ length: PDFS }, (_, index) =>
      upload(
        stack.url,
        KEYS.editor,
        SPACES.research,
        new Uint8Array(makeLongPdf(PDF_PAGES + index)),
        `long-${index}.pdf`,
      ),
    ),
  );
  for (const { id } of made) await ended(stack.url, KEYS.editor, id, PHASE_MS);
  row(`parser process at its peak, PDFs of ${PDF_PAGES} pages`, `${watched.stop()} MB resident`);
  row(
    "… processor time of worker and parsers",
    `${each((await cpuSeconds(worker)) - cpu, PDFS * PDF_PAGES)} a page`,
  );
}

async function withStack<T>(
  options: Parameters<typeof startStack>[0],
  work: (stack: Stack) => Promise<T>,
): Promise<T> {
  const stack = await startStack(options);
  try {
    await ended(
      stack.url,
      KEYS.editor,
      (await upload(stack.url, KEYS.editor, SPACES.research, textOf(1_000_000), "first.md")).id,
      PHASE_MS,
    );
    return await work(stack);
  } finally {
    await stack.close();
  }
}

async function measureWithProvider(url: string): Promise<{ bytesAChunk: number; chunksACore: number }> {
  const env = { LOG_LEVEL: "warn", OPENAI_BASE_URL: url, EMBEDDING_DIMENSIONS: String(DIMENSIONS) };
  return withStack({ env }, async (stack) => {
    const { worker, API } = await pidsOf(stack);
    row("API process, after one document", await memoryOf(API));
    row("worker process without a model of its own, after one document", await memoryOf(worker));
    const [idleBytes, before] = [await privateBytes(await treeOf(worker)), await sizes(stack)];
    const ingested = await ingest(stack, DOCUMENTS.provider);
    sayIngested("a provider embeds", ingested);
    row(
      `slot of a worker: growth at the peak, ${SLOTS} at work`,
      `${mebibytes((ingested.peakBytes - idleBytes) / SLOTS)} private`,
    );
    row("API process, after these uploads", await memoryOf(API));
    const bytesAChunk = saySizes(before, await sizes(stack), ingested.chunks);
    await sayConnections(stack);
    await sayParsers(stack);
    row("worker process with its parsers, after all of it", await memoryOf(worker));
    return { bytesAChunk, chunksACore: ingested.chunks / ingested.cpu.worker };
  });
}

async function measureBuiltIn(): Promise<number> {
  return withStack({ localModels: true, env: { LOG_LEVEL: "warn" } }, async (stack) => {
    row(
      "worker process with the built-in model, after one document",
      await memoryOf((await pidsOf(stack)).worker),
    );
    const ingested = await ingest(stack, DOCUMENTS.builtIn);
    sayIngested("the built-in model embeds", ingested);
    row("… at its peak", `${mebibytes(ingested.peakBytes)} private`);
    return ingested.chunks / ingested.cpu.worker;
  });
}

async function startProvider(): Promise<{ provider: ChildProcess; url: string }> {
  const command = ["test/support/provider/scripted-provider-main.ts", "--dimensions", String(DIMENSIONS)];
  const provider = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface(provider.stdout), "line")) as [string];
  return { provider, url };
}

const stop = await setup();
const { provider, url } = await startProvider();
try {
  say(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; load average ` +
      `${loadavg()[0]?.toFixed(2)}`,
  );
  say("| what | costs |\n|---|---|");
  const { bytesAChunk, chunksACore } = await measureWithProvider(url);
  const builtInACore = await measureBuiltIn();
  say(
    "\nOn paper, from these alone:\n\n| chunks | tables | core-days of workers, a provider embeds | " +
      "core-days, the built-in model embeds |\n|---|---|---|---|",
  );
  const days = (chunks: number, aSecond: number): string => (chunks / aSecond / 86_400).toFixed(1);
  for (const chunks of PAPER)
    say(
      `| ${chunks / 1e6} M | ${((chunks * bytesAChunk) / 1e9).toFixed(0)} GB | ` +
        `${days(chunks, chunksACore)} | ${days(chunks, builtInACore)} |`,
    );
} finally {
  provider.kill("SIGTERM");
  await stop();
}
