/** Measures how long a page takes: one that no cache has, and one that was shown before. */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { call, ended, upload } from "../../test/support/clients/client.ts";
import setup from "../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { percentile, say } from "../report.ts";

const WIDTH = 1_000;
/** Of each document: enough for a median, and few enough that a long document does not decide it. */
const PAGES_A_DOCUMENT = 10;
const MAX_BYTES = 50 * 1024 * 1024;

interface Times {
  readonly first: number[];
  readonly again: number[];
  /** Pages that cannot be shown, such as those of files with a password. */
  refused: number;
}

/** Prints the time of a page of 1,000 pixels over HTTP. Starts a stack of its own. */
export async function measurePages(paths: readonly string[]): Promise<void> {
  const stop = await setup();
  const stack = await startStack();
  try {
    const times: Times = { first: [], again: [], refused: 0 };
    let isWarm = false;
    for (const path of paths) {
      if ((await stat(path)).size > MAX_BYTES) continue;
      const id = await ingest(stack, path);
      const count = (await call(stack.url, KEYS.owner, "GET", `/data/${id}/pages`)).body.total_items ?? 1;
      // The first page of all starts the process.
      if (!isWarm) isWarm = (await timed(stack, id, 1, WIDTH - 1)) !== undefined;
      await measure(stack, id, Math.min(count, PAGES_A_DOCUMENT), times);
    }
    report(times);
  } finally {
    await stack.close();
    await stop();
  }
}

async function ingest(stack: Stack, path: string): Promise<string> {
  const content = new Uint8Array(await readFile(path));
  const { id } = await upload(stack.url, KEYS.owner, SPACES.research, content, basename(path));
  await ended(stack.url, KEYS.owner, id, 600_000);
  return id;
}

/** The first pages of the document, each twice. */
async function measure(stack: Stack, id: string, pages: number, times: Times): Promise<void> {
  for (let page = 1; page <= pages; page++) {
    const first = await timed(stack, id, page, WIDTH);
    const again = await timed(stack, id, page, WIDTH);
    if (first === undefined || again === undefined) times.refused += 1;
    else {
      times.first.push(first);
      times.again.push(again);
    }
  }
}

/** Milliseconds to the last byte; undefined if the page is refused. */
async function timed(stack: Stack, id: string, page: number, width: number): Promise<number | undefined> {
  const startedAt = performance.now();
  const response = await fetch(`${stack.url}/v1/data/${id}/pages/${page}?width=${width}`, {
    headers: { authorization: `Bearer ${KEYS.owner}` },
  });
  await response.arrayBuffer();
  const took = performance.now() - startedAt;
  if (response.ok) return took;
  if (response.status === 422) return undefined;
  throw new Error(`a page answered ${response.status}`);
}

function report({ first, again, refused }: Times): void {
  say(`${first.length} pages of ${WIDTH} pixels as PNG, and ${refused} that cannot be shown`);
  say("| page | p50 | p90 | most |");
  say("|---|---:|---:|---:|");
  for (const [name, values] of [
    ["not cached", first],
    ["cached", again],
  ] as const) {
    const shown = [percentile(values, 0.5), percentile(values, 0.9), Math.max(...values)];
    say(`| ${name} | ${shown.map((value) => `${value.toFixed(1)} ms`).join(" | ")} |`);
  }
}
