/**
 * Times what locations cost when documents are read: parsing and chunking of each document by this checkout
 * and, in turn, by another one (`BASE`, with its node_modules), or with units whose places were taken away.
 */
import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Chunkers from "../../src/chunkers/index.ts";
import type { TextUnit } from "../../src/domain/text-unit.ts";
import { namedKind } from "../../src/parsers/file-extensions.ts";
import type * as Parsers from "../../src/parsers/index.ts";
import { modelTokenizer } from "../../test/support/files/tokenizer.ts";
import { percentile, say } from "../report.ts";

const ROUNDS = 7;
const ROOT = join(import.meta.dirname, "../..");

/** One way to make chunks of a file; @returns what is written of it, as JSON. */
type Reader = (path: string) => Promise<string>;

async function readerOf(
  root: string,
  change: (units: readonly TextUnit[]) => readonly TextUnit[],
): Promise<Reader> {
  const module = async <Module>(path: string): Promise<Module> =>
    (await import(pathToFileURL(join(root, path)).href)) as Module;
  const { parserFor } = await module<typeof Parsers>("src/parsers/index.ts");
  const { chunkerNamed } = await module<typeof Chunkers>("src/chunkers/index.ts");
  return async (path) => {
    const fileType = namedKind(extname(path).slice(1).toLowerCase());
    if (fileType === undefined) return "";
    const { units } = await parserFor(fileType).parse({ fileType, path, name: path });
    const kept = change(units);
    const options = { maxTokens: 240, overlapTokens: 0 };
    return JSON.stringify([kept, chunkerNamed("page_based")(kept, options, modelTokenizer)]);
  };
}

const withoutPlaces = (units: readonly TextUnit[]): TextUnit[] =>
  units.map(({ places: _places, ...unit }) => unit);

export async function ingest(folder: string): Promise<void> {
  const base = process.env["BASE"];
  const readers = [
    base === undefined ? await readerOf(ROOT, withoutPlaces) : await readerOf(base, (units) => units),
    await readerOf(ROOT, (units) => units),
  ];
  const paths = await readable(folder, readers);
  const totals: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round++) {
    const spent: [number, number] = [0, 0];
    for (const path of paths)
      // In turn, and each first every other time, so that what slows this machine down slows both.
      for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const start = performance.now();
        await readers[which]!(path);
        spent[which] += performance.now() - start;
      }
    if (round > 0) for (const which of [0, 1] as const) totals[which].push(spent[which]);
  }
  const [before, after] = totals.map((times) => percentile(times, 0.5)) as [number, number];
  say(
    `${paths.length} documents, parsed and chunked in one process, median of ${ROUNDS} rounds: ` +
      `${before.toFixed(0)} ms ${base === undefined ? "without places behind the parser" : "by the other checkout"}, ` +
      `${after.toFixed(0)} ms with locations: ${((after / before - 1) * 100).toFixed(1)} % more`,
  );
}

/** Leaves out what no parser reads, or only with OCR. */
async function readable(folder: string, readers: readonly Reader[]): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const kept: string[] = [];
  for (const path of paths) {
    const read = await Promise.all(readers.map((reader) => reader(path).catch(() => "")));
    if (read.every((text) => text !== "")) kept.push(path);
  }
  return kept;
}
