/**
 * Measures what the interfaces of others' clients cost over Holdfast's own: a streamed response over a
 * streamed chat, the search of a vector store over hybrid search, and the search of `/mcp` over the same. In
 * turn, in one run, one request at a time.
 */
import { loadavg } from "node:os";
import { Command } from "commander";
import setup from "../../test/support/run/global-setup.ts";
import { call } from "../../test/support/clients/client.ts";
import { machine, say } from "../report.ts";
import { type Way, inTurn, median, shown, timed } from "./measure.ts";
import { type Bench, madeQueries, startBench } from "./start.ts";
import { closeConnections, streamWays } from "./streams.ts";

interface Options {
  readonly rounds: string;
  readonly documents: string;
  readonly pieces: string;
  readonly firstTokenMs: string;
  readonly parts: string;
}

const RESULTS = 10;
const GOALS = { responseMs: 3, storeShare: 0.1, mcpMs: 5 };

const verdict = (isHeld: boolean): string => (isHeld ? "held" : "MISSED");

async function measureStreams(bench: Bench, rounds: number): Promise<void> {
  const times = await inTurn(streamWays(bench), rounds);
  const provider = median(times.provider);
  const adds = (name: keyof typeof times): string => (median(times[name]) - provider).toFixed(2);
  say("| first token of | p50 / p95 (ms) | adds to the provider's, p50 (ms) |\n|---|---|---|");
  for (const name of Object.keys(times) as (keyof typeof times)[])
    say(`| ${name} | ${shown(times[name])} | ${name === "provider" ? "–" : adds(name)} |`);
  const over = median(times.response) - median(times.chat);
  say(
    `\na streamed response adds ${over.toFixed(2)} ms over chat ` +
      `(goal ${GOALS.responseMs} ms): ${verdict(over <= GOALS.responseMs)}\n`,
  );
}

/** The same questions of the same folder, over three interfaces. */
function searchWays({ stack, key, spaceId, folderId, store, mcp }: Bench) {
  const way = (seed: number, search: (query: string) => Promise<boolean>): Way => {
    const next = madeQueries(seed);
    return timed(async () => {
      const query = next();
      if (!(await search(query))) throw new Error(`nothing was found for ${query}`);
    });
  };
  const post = async (path: string, body: unknown) => {
    const answer = await call(stack.url, key, "POST", path, body);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    return answer.body;
  };
  return {
    "hybrid search": way(1, async (query) => {
      const body = { query, space_id: spaceId, folder_id: folderId, limit: RESULTS };
      return (await post("/data/hybrid-search", body)).results.length > 0;
    }),
    "vector store": way(2, async (query) => {
      const body = { query, max_num_results: RESULTS };
      return (await post(`/vector_stores/${store}/search`, body)).data.length > 0;
    }),
    "MCP tool": way(3, async (query) => {
      const values = { query, space_ids: [spaceId], folder_id: folderId, limit: RESULTS };
      const { structuredContent } = await mcp.callTool({ name: "search", arguments: values });
      return (structuredContent as { total_results: number }).total_results > 0;
    }),
  };
}

async function measureSearches(bench: Bench, rounds: number): Promise<void> {
  const times = await inTurn(searchWays(bench), rounds);
  const hybrid = median(times["hybrid search"]);
  say("| search by | p50 / p95 (ms) | of hybrid search, p50 |\n|---|---|---|");
  for (const [name, of] of Object.entries(times))
    say(`| ${name} | ${shown(of)} | ${((median(of) / hybrid) * 100).toFixed(0)} % |`);
  const share = median(times["vector store"]) / hybrid - 1;
  const over = median(times["MCP tool"]) - hybrid;
  say(
    `\nthe search of a vector store takes ${(share * 100).toFixed(1)} % more than hybrid search ` +
      `(goal ${GOALS.storeShare * 100} %): ${verdict(share <= GOALS.storeShare)}`,
  );
  say(
    `the tool of /mcp takes ${over.toFixed(2)} ms more than the route (goal ${GOALS.mcpMs} ms): ` +
      verdict(over <= GOALS.mcpMs),
  );
}

async function run(options: Options): Promise<void> {
  const stop = await setup();
  const bench = await startBench(options).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const rounds = Number(options.rounds);
  try {
    say(
      `${machine()}; clients, provider, API, worker, Temporal and Postgres on this machine; load average ` +
        `${loadavg()[0]?.toFixed(2)} at the start; ${rounds} rounds in turn, one request at a time; a store of ` +
        `${options.documents} documents; answers of ${options.pieces} pieces, the first after ` +
        `${options.firstTokenMs} ms\n`,
    );
    const parts = { streams: measureStreams, searches: measureSearches };
    for (const [name, measure] of Object.entries(parts))
      if (options.parts.split(",").includes(name)) await measure(bench, rounds);
    say(`\nload average ${loadavg()[0]?.toFixed(2)} at the end`);
  } finally {
    closeConnections();
    await bench.close();
    await stop();
  }
}

await new Command()
  .description("Measures what the interfaces of others' clients cost over Holdfast's own.")
  .option("--rounds <n>", "requests of each kind", "500")
  .option("--documents <n>", "documents of the vector store", "300")
  .option("--pieces <n>", "pieces of the provider's answers", "4")
  .option("--first-token-ms <n>", "the provider's time to its first token", "0")
  .option("--parts <list>", "streams (of answers), searches", "streams,searches")
  .action(run)
  .parseAsync();
