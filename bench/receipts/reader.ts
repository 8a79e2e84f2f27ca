/** Reads the words of a PDF and their boxes without the project's parser: by pdf.js. */
import { getDocumentProxy } from "unpdf";
import type { Box } from "../../src/domain/locations/location.ts";

export interface Word {
  readonly text: string;
  readonly page: number;
  readonly box: Box;
  /** True if the word ends its line. */
  readonly endsLine: boolean;
}

interface Item {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly hasEOL: boolean;
}

/** Words from page to page, in the order in which the file draws them. Throws if pdf.js cannot open it. */
export async function readWords(bytes: Uint8Array): Promise<Word[]> {
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  try {
    const words: Word[] = [];
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const viewport = page.getViewport({ scale: 1 });
      const { items } = await page.getTextContent();
      const shown = (x: number, y: number): readonly [number, number] => {
        const [left = 0, top = 0] = viewport.convertToViewportPoint(x, y) as number[];
        return [left / viewport.width, top / viewport.height];
      };
      words.push(...items.flatMap((item) => ("str" in item ? wordsOf(item as Item, number, shown) : [])));
      page.cleanup();
    }
    return words;
  } finally {
    await document.loadingTask.destroy();
  }
}

/** Characters share the width of their item alike, which is near enough to tell one line from another. */
function wordsOf(
  { str, transform, width, hasEOL }: Item,
  page: number,
  shown: (x: number, y: number) => readonly [number, number],
): Word[] {
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = transform;
  const along = Math.hypot(a, b) || 1;
  const up = Math.hypot(c, d) || 1;
  const at = (distance: number, height: number): readonly [number, number] =>
    shown(x + (a / along) * distance + (c / up) * height, y + (b / along) * distance + (d / up) * height);
  const found = [...str.matchAll(/\S+/g)];
  return found.map((match, index) => {
    const from = (match.index / str.length) * width;
    const to = ((match.index + match[0].length) / str.length) * width;
    const corners = [at(from, 0), at(to, 0), at(from, up), at(to, up)];
    const xs = corners.map(([left]) => left);
    const ys = corners.map(([, top]) => top);
    return {
      text: match[0],
      page,
      box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
      endsLine: hasEOL && index === found.length - 1,
    };
  });
}

/** The middle of the word's letters: half of the height of a line of capitals. */
export function isInside({ page, box }: Word, places: readonly { page: number; box: Box }[]): boolean {
  const x = (box[0] + box[2]) / 2;
  const y = (box[1] + box[3]) / 2;
  return places.some(
    (place) =>
      place.page === page && x >= place.box[0] && x <= place.box[2] && y >= place.box[1] && y <= place.box[3],
  );
}
