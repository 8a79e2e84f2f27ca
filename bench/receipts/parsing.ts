/** Times parsing of PDFs, to be compared with the same of another version. */
import { pdf } from "../../src/parsers/pdf/pdf.ts";
import { percentile, say } from "../report.ts";

const ROUNDS = 5;

export async function parsing(files: readonly string[]): Promise<void> {
  const totals: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    // Files that cannot be read take their time, too.
    for (const path of files) await pdf.parse({ fileType: "PDF", path }).catch(() => undefined);
    if (round > 0) totals.push(performance.now() - start);
  }
  say(
    `${files.length} PDFs: ${percentile(totals, 0.5).toFixed(0)} ms, median of ${ROUNDS} rounds behind one to warm up`,
  );
}
