/**
 * Measures documents a second through the whole service, from the upload over HTTP to searchable, and single
 * uploads on an idle system.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { mapAtMost } from "../../src/process/concurrency/settle-all.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { call, ended, upload } from "../../test/support/clients/client.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import setup from "../../test/support/run/global-setup.ts";
import { machine, percentile, say } from "../report.ts";

interface Options {
  readonly documents: string;
  readonly corpus?: string;
  readonly local?: boolean;
}

const UPLOADERS = 8;
const SINGLES = 20;
const POLL_MS = 10;
const WORDS = [
  ..."the cell protein of study in patients with effect".split(" "),
  ..."results we show that expression increased during treatment".split(" "),
];

/** Returns texts of about 1.5 KB: abstracts of a BEIR corpus, or made of common words. */
async function texts(count: number, corpus: string | undefined): Promise<string[]> {
  if (corpus === undefined) {
    return Array.from({ length: count }, (_, document) =>
      Array.from({ length: 230 }, (_word, index) => {
        const word = WORDS[(index * 7 + document * 13) % WORDS.length];
        return `${word}${index % 5 === 0 ? (index * document) % 997 : ""}`;
      }).join(" "),
    );
  }
  const lines = (await readFile(join(corpus, "corpus.jsonl"), "utf8"))
    .split("\n")
    .filter(Boolean)
    .slice(0, count);
  return lines.map((line) => {
    const { title, text } = JSON.parse(line) as { title: string; text: string };
    return `# ${title}\n\n${text}`;
  });
}

async function completed(stack: Stack): Promise<{ documents: number; chunks: number }> {
  const { rows } = await stack.database.db.owner.query<{ documents: number; chunks: number }>(
    `select count(*)::int                       as documents,
            coalesce(sum(chunk_count), 0)::int  as chunks
     from   pipeline_runs
     where  status = 'completed'`,
  );
  return rows[0]!;
}

async function run({ documents, corpus, local = false }: Options): Promise<void> {
  const count = Number(documents);
  const stop = await setup();
  const stack = await startStack({ localModels: local });
  try {
    const all = await texts(count, corpus);
    const single = async (text: string, name: string): Promise<number> => {
      const started = performance.now();
      const { id } = await upload(stack.url, KEYS.editor, SPACES.research, text, name);
      await ended(stack.url, KEYS.editor, id);
      return performance.now() - started;
    };
    for (let index = 0; index < 3; index += 1) await single(`warm up ${index}`, "warm.md");
    const latencies: number[] = [];
    for (let index = 0; index < SINGLES; index += 1)
      latencies.push(await single(`${all[index % all.length]}\n\nsingle ${index}`, `single-${index}.md`));

    const before = await completed(stack);
    const started = performance.now();
    await mapAtMost(UPLOADERS, [...all.entries()], async ([index, text]) => {
      await upload(stack.url, KEYS.editor, SPACES.research, text, `document-${index}.md`);
    });
    const accepted = performance.now() - started;
    let now = await completed(stack);
    while (now.documents - before.documents < all.length) {
      await new Promise((resume) => setTimeout(resume, POLL_MS));
      now = await completed(stack);
    }
    const seconds = (performance.now() - started) / 1_000;
    const { body } = await call(stack.url, KEYS.viewer, "POST", "/data/hybrid-search", {
      query: all[0]!.slice(0, 200),
      space_id: SPACES.research,
    });
    say(
      `${machine()}; embeddings: ${local ? "local MiniLM" : "scripted provider"}; ` +
        "everything on this machine",
    );
    say(
      `texts: ${corpus === undefined ? "made of common words" : "abstracts of the corpus given"}, ` +
        `${Math.round(all.reduce((sum, text) => sum + text.length, 0) / all.length)} characters each on ` +
        "average",
    );
    say(
      "| documents | uploaders | accepted (s) | all completed (s) | documents/s | chunks/s | one upload " +
        "on an idle system: p50 / p95 (ms) |",
    );
    say(`|---|---|---|---|---|---|---|`);
    say(
      `| ${all.length} | ${UPLOADERS} | ${(accepted / 1_000).toFixed(1)} | ${seconds.toFixed(1)} | ` +
        `${(all.length / seconds).toFixed(1)} | ${((now.chunks - before.chunks) / seconds).toFixed(1)} | ` +
        `${percentile(latencies, 0.5).toFixed(0)} / ${percentile(latencies, 0.95).toFixed(0)} |`,
    );
    if (body.total_results === 0) throw new Error("nothing was found of what was ingested");
  } finally {
    await stack.close();
    await stop();
  }
}

await new Command("bench:ingest")
  .description("Documents a second from upload to searchable.")
  .option("--documents <n>", "how many", "500")
  .option("--corpus <dir>", "a folder in BEIR's format to take texts from")
  .option("--local", "embed with the local model instead of the scripted provider")
  .action(run)
  .parseAsync();
