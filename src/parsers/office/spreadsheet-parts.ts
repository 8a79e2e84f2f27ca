/** The only place that takes from the parts of a spreadsheet what SheetJS would multiply without bounds, before it sees them. */

/** Excel's own limit for a number format: a longer one is written out for each cell that has it. */
const LONG_FORMAT = /(formatCode=)("[^"]{256,}"|'[^']{256,}')/g;
/** SheetJS looks at each cell of a range that is a link; where links lead is no text. */
const LINK = /<(?:\w+:)?hyperlink\b[^<>]*>/g;

/** The part as it may be read: itself where nothing in it is dangerous. */
export function harmlessPart(name: string, part: Buffer): Buffer {
  if (/styles\.xml$/i.test(name)) return replaced(part, (text) => text.replace(LONG_FORMAT, '$1"General"'));
  if (/^content\.xml$/i.test(name)) return replaced(part, withBoundedRepeats);
  return /worksheets\/[^/]*\.xml$/i.test(name) && part.includes("hyperlink")
    ? replaced(part, (text) => text.replace(LINK, ""))
    : part;
}

/** Latin-1 leaves all bytes as they are that are not replaced. */
function replaced(part: Buffer, replace: (text: string) => string): Buffer {
  const text = part.toString("latin1");
  const other = replace(text);
  return other === text ? part : Buffer.from(other, "latin1");
}

const ROW_OR_CELL = /<(?:\w+:)?table-(row|cell)\b[^<>]*>/g;
const REPEATED = /(number-(?:rows|columns)-repeated\s*=\s*["'])(\d+)/;
/** Cells of all sheets that a count, not a tag, makes. */
const MAX_REPEATED_CELLS = 500_000;
const MAX_REPEATED_ROWS = 500;

/**
 * OpenDocument writes equal rows and cells once, with a count. Empty ones, which fill a sheet up to its edge, cost nothing and keep their count,
 * since it says where the next one stands.
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
