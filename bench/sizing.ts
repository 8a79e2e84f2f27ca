/** What a process, a slot of a worker, a connection and a chunk cost, measured on a stack of its own: one table. Linux alone (/proc). */
import { readFile, readdir } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import setup from "../test/support/global-setup.ts";
import { ended, upload } from "../test/support/client.ts";
import { type Stack, startStack } from "../test/support/stack.ts";
import { KEYS, SPACES } from "../test/support/tenants.ts";

const DOCUMENTS = 20;
const SECTIONS = 40;
const MEBIBYTE = 1_048_576;

/** Of a process and all below it: what nobody else would free. */
async function privateBytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1_024, 0);
}

async function childrenOf(pid: number): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, "utf8").catch(() => "") : "";
    if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid) found.push(Number(name), ...(await childrenOf(Number(name))));
  }
  return found;
}

async function memoryOf(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  const all = [pid, ...(await childrenOf(pid))];
  return (await Promise.all(all.map(privateBytes))).reduce((sum, bytes) => sum + bytes, 0);
}

const words = "river bank heron reed water level gauge station report season flow measure value record basin north".split(" ");
const section = (seed: number): string =>
  `## Section ${seed}\n\n${Array.from({ length: 150 }, (_, index) => `${words[(seed * 31 + index * 7 + ((seed * index) % 13)) % words.length]}${(seed * index) % 97}`).join(" ")}.\n`;

async function rows<T>(stack: Stack, query: string): Promise<T[]> {
  return (await stack.database.db.owner.query(query)).rows as T[];
}

const TABLES = `select case when relname ~ '^embeddings_\\d' then 'embeddings' else relname end as name, sum(pg_total_relation_size(c.oid))::bigint as bytes
  from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r' group by 1`;

async function sizes(stack: Stack): Promise<Map<string, number>> {
  return new Map((await rows<{ name: string; bytes: number }>(stack, TABLES)).map(({ name, bytes }) => [name, bytes]));
}

async function connectionBytes(stack: Stack): Promise<number[]> {
  const backends = await rows<{ pid: number }>(stack, "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()");
  return Promise.all(backends.map(({ pid }) => privateBytes(pid)));
}

const stop = await setup();
const stack = await startStack({ localModels: true, env: { LOG_LEVEL: "warn" } });
try {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const mebibytes = (bytes: number): string => (bytes / MEBIBYTE).toFixed(1);
  await ended(stack.url, KEYS.editor, (await upload(stack.url, KEYS.editor, SPACES.research, section(1))).id, 120_000);
  const idle = { api: await memoryOf(stack.api.child.pid), worker: await memoryOf(stack.worker.child.pid) };
  const before = await sizes(stack);
  const made = [];
  for (let count = 0; count < DOCUMENTS; count += 1)
    made.push(
      await upload(stack.url, KEYS.editor, SPACES.research, Array.from({ length: SECTIONS }, (_, index) => section(count * SECTIONS + index + 2)).join("\n"), `s${count}.md`),
    );
  let peak = 0;
  const watching = setInterval(() => void memoryOf(stack.worker.child.pid).then((bytes) => (peak = Math.max(peak, bytes))), 1_000);
  for (const { id } of made) await ended(stack.url, KEYS.editor, id, 280_000);
  clearInterval(watching);
  const after = await sizes(stack);
  const [{ chunks } = { chunks: 0 }] = await rows<{ chunks: number }>(stack, "select count(*)::int as chunks from chunks");
  const connections = await connectionBytes(stack);
  const grown = [...after].map(([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / chunks] as const).filter(([, bytes]) => bytes >= 8);
  say(`${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, built-in MiniLM (384 dimensions); load average ${loadavg()[0]?.toFixed(2)}`);
  say("| what | costs |\n|---|---|");
  say(`| API process, idle | ${mebibytes(idle.api)} MiB private |`);
  say(`| worker process with its parser and model, after one document | ${mebibytes(idle.worker)} MiB private |`);
  say(`| the same at its peak, with 8 slots at work (parse 4, embed 4) on ${DOCUMENTS} documents | ${mebibytes(peak)} MiB: ${mebibytes((peak - idle.worker) / 8)} MiB a slot |`);
  say(
    `| connection of Postgres, idle after use: mean of ${connections.length} | ${mebibytes(connections.reduce((sum, bytes) => sum + bytes, 0) / connections.length)} MiB private |`,
  );
  say(`| chunk in Postgres, indexes and free space included, over ${chunks} chunks | ${Math.round(grown.reduce((sum, [, bytes]) => sum + bytes, 0))} bytes |`);
  for (const [name, bytes] of grown.toSorted((one, other) => other[1] - one[1])) say(`| … of it ${name} | ${Math.round(bytes)} bytes |`);
} finally {
  await stack.close();
  await stop();
}
