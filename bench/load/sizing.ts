/**
 * Measures what a process, a slot of a worker, a connection and a chunk cost, on stacks of its own, and works
 * out what that makes of large installations. Runs on Linux only, because it reads /proc.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { createInterface } from "node:readline";
import { ended, upload } from "../../test/support/clients/client.ts";
import { makeLongPdf } from "../../test/support/files/text.ts";
import setup from "../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { cpuSeconds, parserProcesses, peakOf, privateBytes, treeOf } from "../process-tree.ts";
import { machine, say } from "../report.ts";
import { type Ingested, PHASE_MS, UPLOADERS, ingest } from "./sizing/ingest.ts";
import { textOf } from "./sizing/texts.ts";
import { mebibytes, memoryOf, pidsOf, rows } from "./sizing/usage.ts";

const DIMENSIONS = 384;
const DOCUMENTS = { provider: 300, builtIn: 24 };
const PDFS = 4;
const PDF_PAGES = 100;
/** Slots of a worker for `parse` and `embed` together. */
const SLOTS = 8;
/** Chunks of the installations that are worked out on paper. */
const PAPER = [10e6, 100e6, 1e9];

function row(what: string, cost: string): void {
  say(`| ${what} | ${cost} |`);
}

/** Milliseconds of processor time for each of `count`. */
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

/** Bytes of each table with its indexes; the partitions of `embeddings` count as one. */
const TABLE_SIZES = `
  select   case when relname ~ '^embeddings_\\d' then 'embeddings' else relname end as name,
           sum(pg_total_relation_size(oid))::float8                                 as bytes
  from     pg_class
  where    relnamespace = 'public'::regnamespace
  and      relkind = 'r'
  group by 1`;

async function sizes(stack: Stack): Promise<Map<string, number>> {
  const tables = await rows<{ name: string; bytes: number }>(stack, TABLE_SIZES);
  return new Map(tables.map(({ name, bytes }) => [name, bytes]));
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
    `select pid
     from   pg_stat_activity
     where  datname = current_database()
     and    pid <> pg_backend_pid()`,
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
    const idleBytes = await privateBytes(await treeOf(worker));
    const before = await sizes(stack);
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
  say(`${machine()}; load average ${loadavg()[0]?.toFixed(2)}`);
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
