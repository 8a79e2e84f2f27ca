/**
 * Compares plain requests with a bare Koa, and measures whether a listing pays for documents that its caller
 * does not reach.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { Command } from "commander";
import type pg from "pg";
import { searchDocuments } from "../../src/db/documents/search.ts";
import { inTenant, type Sql } from "../../src/db/pool.ts";
import { DocumentSearch } from "../../src/schema/documents/document.ts";
import setup from "../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { ACME, AGENTS, KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { insertManyDocuments } from "../documents/many-documents.ts";
import { machine, percentile, say } from "../report.ts";

interface Options {
  readonly seconds: string;
  readonly atOnce: string;
  readonly reached: string;
  readonly others: string;
  readonly plans?: boolean;
}

interface Target {
  readonly method: string;
  readonly url: string;
  readonly body?: unknown;
}

interface Measured {
  milliseconds: number[];
  seconds: number;
}

/** Targets are measured in turn in slices of this length, so that all see the same machine. */
const SLICE_SECONDS = 2;
const connections = new Agent({ keepAlive: true, maxSockets: 64 });

const SEARCHES: readonly (readonly [string, unknown])[] = [
  ["all, newest first", {}],
  ["of a type, newest first", { filters: { file_type__exact: "PDF" }, order_by: ["-created_at"] }],
  [
    "completed, by size",
    { filters: { "processing_state.pipeline_status__exact": "completed" }, order_by: ["file_size"] },
  ],
  [
    "of a project, in its metadata",
    { filters: { "doc_metadata.project": "p7" }, order_by: ["-doc_metadata.project"] },
  ],
  ["a part of the path", { filters: { file_path__icontains: "FILE-77" } }],
];

function ask({ method, url, body }: Target): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const headers = {
      authorization: `Bearer ${KEYS.viewer}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const made = request(url, { method, agent: connections, headers }, (response) => {
      response.resume();
      response.on("end", () =>
        response.statusCode === 200
          ? resolve(performance.now() - startedAt)
          : reject(new Error(`${method} ${url} answered ${response.statusCode}`)),
      );
      response.on("error", reject);
    });
    made.on("error", reject);
    made.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function load(target: Target, atOnce: number, seconds: number): Promise<Measured> {
  const milliseconds: number[] = [];
  const startedAt = performance.now();
  const one = async (): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1_000) milliseconds.push(await ask(target));
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return { milliseconds, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Measures all targets in turn, `seconds` each, after a second each to warm up. */
async function compare(targets: readonly Target[], atOnce: number, seconds: number): Promise<Measured[]> {
  const all: Measured[] = targets.map(() => ({ milliseconds: [], seconds: 0 }));
  for (const target of targets) await load(target, atOnce, 1);
  for (let spent = 0; spent < seconds; spent += SLICE_SECONDS) {
    for (const [index, target] of targets.entries()) {
      const { milliseconds, seconds: took } = await load(target, atOnce, SLICE_SECONDS);
      all[index]!.milliseconds.push(...milliseconds);
      all[index]!.seconds += took;
    }
  }
  return all;
}

const perSecond = ({ milliseconds, seconds }: Measured): number => milliseconds.length / seconds;
const pair = ({ milliseconds }: Measured): string =>
  `${percentile(milliseconds, 0.5).toFixed(2)} / ${percentile(milliseconds, 0.95).toFixed(2)}`;

const BARE = `import Koa from "koa";
const app = new Koa();
app.use((ctx) => { if (ctx.path === "/health") ctx.body = { status: "ok" }; });
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

/** Starts it as a process of its own, as the service is. */
async function startBareKoa(): Promise<{ url: string; stop(): boolean }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", BARE], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  return { url: `http://127.0.0.1:${port}/health`, stop: () => child.kill("SIGTERM") };
}

/** Vic, who asks, views Research and reaches nothing of Archive. */
async function fill({ database }: Stack, count: number, spaceId: string): Promise<void> {
  const { owner } = database.db;
  const { rows } = await owner.query<{ id: string }>("select id from users where subject = 'ada'");
  await insertManyDocuments(owner, { organizationId: ACME, spaceId, userId: rows[0]!.id, count });
}

async function measureReads(stack: Stack, options: Options): Promise<void> {
  const { rows } = await stack.database.db.owner.query<{ id: string }>(
    "select id from documents where space_id = $1 limit 1",
    [SPACES.research],
  );
  const bare = await startBareKoa();
  try {
    const v1 = `${stack.url}/v1`;
    const reads: readonly (readonly [string, Target])[] = [
      ["bare Koa /health", { method: "GET", url: bare.url }],
      ["GET /health", { method: "GET", url: `${stack.url}/health` }],
      ["GET /data/{id}", { method: "GET", url: `${v1}/data/${rows[0]!.id}` }],
      ["GET /agents/{id}", { method: "GET", url: `${v1}/agents/${AGENTS.analyst}` }],
      ["GET /models", { method: "GET", url: `${v1}/models` }],
      ["POST /spaces/search", { method: "POST", url: `${v1}/spaces/search`, body: {} }],
    ];
    for (const atOnce of options.atOnce.split(",").map(Number)) {
      const measured = await compare(
        reads.map(([, target]) => target),
        atOnce,
        Number(options.seconds),
      );
      say(`\n| ${atOnce} at once | requests/s | of bare Koa | p50 / p95 (ms) |\n|---|---|---|---|`);
      for (const [index, [name]] of reads.entries())
        say(
          `| ${name} | ${perSecond(measured[index]!).toFixed(0)} | ` +
            `${(perSecond(measured[index]!) / perSecond(measured[0]!)).toFixed(3)} | ` +
            `${pair(measured[index]!)} |`,
        );
    }
  } finally {
    bare.stop();
  }
}

async function measureSearches(small: Stack, large: Stack, options: Options): Promise<void> {
  say(
    `\n| POST /data/search | ${options.reached} alone: p50 / p95 (ms) | among ${options.others} others ` +
      "| p50 ratio |\n|---|---|---|---|",
  );
  for (const [name, body] of SEARCHES) {
    const target = ({ url }: Stack): Target => ({ method: "POST", url: `${url}/v1/data/search`, body });
    const [alone, among] = (await compare([target(small), target(large)], 1, Number(options.seconds))) as [
      Measured,
      Measured,
    ];
    say(
      `| ${name} | ${pair(alone)} | ${pair(among)} | ` +
        `${(percentile(among.milliseconds, 0.5) / percentile(alone.milliseconds, 0.5)).toFixed(2)} |`,
    );
  }
}

/** Prints the plan of every statement of every search. */
async function showPlans({ database }: Stack): Promise<void> {
  const { rows } = await database.db.owner.query<{ num: number }>(
    "select num from organizations where id = $1",
    [ACME],
  );
  const reach = new Map([
    [SPACES.research, { id: SPACES.research, num: 0, role: "viewer" as const, is_private: false }],
  ]);
  for (const [name, body] of SEARCHES) {
    say(`\n### ${name}`);
    await inTenant(database.db, { id: ACME, num: rows[0]!.num }, async (sql) => {
      const explaining: Sql = {
        async query<Row extends pg.QueryResultRow>(query: string | pg.QueryConfig, values?: unknown[]) {
          const text = typeof query === "string" ? query : query.text;
          const plan = await sql.query<{ "QUERY PLAN": string }>(
            `explain (analyze, buffers off, timing off, summary off) ${text}`,
            values,
          );
          say(plan.rows.map((row) => row["QUERY PLAN"]).join("\n"));
          return sql.query<Row>(query, values);
        },
      };
      await searchDocuments(explaining, reach, DocumentSearch.parse(body), { page: 1, limit: 20 });
    });
  }
}

async function run(options: Options): Promise<void> {
  const stop = await setup();
  const stacks: Stack[] = [];
  try {
    const reached = Number(options.reached);
    const others = Number(options.others);
    for (let index = 0; index < 2; index += 1)
      stacks.push(await startStack({ withoutWorker: true, env: { LOG_LEVEL: "warn" } }));
    const [small, large] = stacks as [Stack, Stack];
    for (const stack of stacks) await fill(stack, reached, SPACES.research);
    await fill(large, others, SPACES.archive);
    say(
      `${machine()}; load, API, Temporal and ` +
        `Postgres on this machine; ${options.seconds} s a cell, in turn`,
    );
    if (options.plans) return await showPlans(large);
    await measureReads(large, options);
    await measureSearches(small, large, options);
  } finally {
    connections.destroy();
    for (const stack of stacks) await stack.close();
    await stop();
  }
}

await new Command("bench:api")
  .description(
    "Plain reads beside a bare Koa, and listings beside documents that their caller does not reach.",
  )
  .option("--seconds <n>", "seconds a cell", "10")
  .option("--at-once <list>", "plain requests at once, a table each", "1,16")
  .option("--reached <n>", "documents that the caller reaches", "1000")
  .option("--others <n>", "documents of the same organization that it does not reach", "99000")
  .option("--plans", "show the plans of the listings instead of measuring")
  .action(run)
  .parseAsync();
