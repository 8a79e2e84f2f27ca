/** For each chunk of the PDFs in a folder: the words that another reader finds in its boxes. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Chunk, chunkerNamed } from "../../src/chunkers/index.ts";
import { unpackPlaces } from "../../src/domain/locations/packed.ts";
import { prepareOcrData } from "../../src/parsers/pdf/ocr-data.ts";
import { pdf } from "../../src/parsers/pdf/pdf.ts";
import { modelTokenizer } from "../../test/support/files/tokenizer.ts";
import { percentile, say } from "../report.ts";
import { agreement, type Agreement, tokensOf } from "./agreement.ts";
import { isInside, readWords, type Word } from "./reader.ts";

interface Measured {
  readonly document: string;
  readonly chunks: readonly Agreement[];
  /**
   * Chunks of pages on which the other reader finds no words: pictures that OCR read, with and without boxes.
   */
  readonly ocr: { readonly located: number; readonly missing: number };
}

export async function boxes(files: readonly string[], options: { verbose: boolean }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
  const measured: Measured[] = [];
  const unread: string[] = [];
  try {
    const ocr = await prepareOcrData(["eng"], folder);
    for (const path of files) {
      const bytes = await readFile(path);
      const parsed = await pdf.parse({ fileType: "PDF", path, ocr }).catch(() => undefined);
      if (parsed === undefined) unread.push(path);
      else {
        const chunks = chunkerNamed("page_based")(
          parsed.units,
          { maxTokens: 240, overlapTokens: 0 },
          modelTokenizer,
        );
        measured.push(measure(path, chunks, await readWords(bytes).catch(() => [])));
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  print(measured, unread, options);
}

function measure(document: string, chunks: readonly Chunk[], words: readonly Word[]): Measured {
  const readPages = new Set(words.map((word) => word.page));
  const agreements: Agreement[] = [];
  let located = 0;
  let missing = 0;
  for (const chunk of chunks) {
    const places = unpackPlaces(chunk.places).flatMap(({ spot: { page, box } }) =>
      page === undefined || box === undefined ? [] : [{ page, box }],
    );
    if (!pagesOf(chunk).some((page) => readPages.has(page))) {
      if (places.length > 0) located++;
      else missing++;
      continue;
    }
    const inside = words.filter((word) => isInside(word, places)).map((word) => word.text);
    agreements.push(agreement(tokensOf(chunk.text), tokensOf(inside.join(" "))));
  }
  return { document, chunks: agreements, ocr: { located, missing } };
}

function pagesOf({ page_start, page_end }: Chunk): number[] {
  const first = page_start ?? 1;
  return Array.from({ length: (page_end ?? first) - first + 1 }, (_, index) => first + index);
}

function print(
  measured: readonly Measured[],
  unread: readonly string[],
  { verbose }: { verbose: boolean },
): void {
  const all = measured.flatMap((entry) => entry.chunks);
  const sum = (side: "located" | "missing"): number =>
    measured.reduce((total, { ocr }) => total + ocr[side], 0);
  say(`${measured.length} PDFs that are read, ${unread.length} that are not; ${all.length} chunks`);
  say("");
  say("| words | mean | p10 | target |");
  say("|---|---|---|---|");
  say(`| of the chunk, found in its boxes | ${row(all.map(({ recall }) => recall))} | 98 %, p10 90 % |`);
  say(`| in its boxes, which are the chunk's | ${row(all.map(({ precision }) => precision))} | |`);
  say("");
  say(`OCR pages: ${sum("located")} chunks with boxes, ${sum("missing")} without`);
  if (!verbose) return;
  for (const { document, chunks } of measured)
    if (chunks.length > 0)
      say(
        `${document}: recall ${row(chunks.map(({ recall }) => recall))}, precision ` +
          row(chunks.map(({ precision }) => precision)),
      );
}

function row(shares: readonly number[]): string {
  const mean = shares.reduce((sum, share) => sum + share, 0) / Math.max(shares.length, 1);
  return `${(mean * 100).toFixed(1)} % | ${(percentile(shares, 0.1) * 100).toFixed(1)} %`;
}
