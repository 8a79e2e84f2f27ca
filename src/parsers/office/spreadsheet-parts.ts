/** Removes from the parts of a spreadsheet what SheetJS would expand without bounds. */

/** A number format beyond Excel's own limit of 255 characters, which is copied to each cell that has it. */
const LONG_FORMAT = /(formatCode=)("[^"]{256,}"|'[^']{256,}')/g;
/** SheetJS visits each cell of a range that is a link; the addresses of links are not text. */
const LINK = /<(?:\w+:)?hyperlink\b[^<>]*>/g;

/** The part as SheetJS may read it; the same buffer if nothing in it is dangerous. */
export function harmlessPart(name: string, part: Buffer): Buffer {
  if (/styles\.xml$/i.test(name)) return replaced(part, (text) => text.replace(LONG_FORMAT, '$1"General"'));
  if (/^content\.xml$/i.test(name)) return replaced(part, withBoundedRepeats);
  return /worksheets\/[^/]*\.xml$/i.test(name) && part.includes("hyperlink")
    ? replaced(part, (text) => text.replace(LINK, ""))
    : part;
}

/** Replaces text as Latin-1, which keeps all other bytes as they are. */
function replaced(part: Buffer, replace: (text: string) => string): Buffer {
  const text = part.toString("latin1");
  const other = replace(text);
  return other === text ? part : Buffer.from(other, "latin1");
}

const ROW_OR_CELL = /<(?:\w+:)?table-(row|cell)\b[^<>]*>/g;
const REPEATED = /(number-(?:rows|columns)-repeated\s*=\s*["'])(\d+)/;
/** Cells of all sheets that come from repeat counts. */
const MAX_REPEATED_CELLS = 500_000;
const MAX_REPEATED_ROWS = 500;

/**
 * Bounds the repeat counts with which OpenDocument stores equal rows and cells. Empty cells, which fill a
 * sheet up to its edge, cost nothing and keep their count, since it decides the column of the next cell.
 */
function withBoundedRepeats(xml: string): string {
  let left = MAX_REPEATED_CELLS;
  let rows = 1;
  return xml.replace(ROW_OR_CELL, (tag: string, kind: string) => {
    const count = Number(REPEATED.exec(tag)?.[2] ?? 1);
    const isRow = kind === "row";
    if (isRow) rows = Math.min(count, left > 0 ? MAX_REPEATED_ROWS : 1);
    else if (tag.endsWith("/>") && !tag.includes("value")) return tag;
    const allowed = isRow ? rows : Math.max(1, Math.min(count, Math.floor(left / rows)));
    if (!isRow) left -= allowed * rows;
    return allowed === count ? tag : tag.replace(REPEATED, (_, name: string) => `${name}${allowed}`);
  });
}
