/** Writes tables that liteparse finds as pipe tables. */

import type { LayoutBlock } from "@llamaindex/liteparse";
import { pipeTable } from "../text/markdown-format.ts";
import { unionOf } from "./frame.ts";
import { storableText } from "../parser.ts";
import type { Piece } from "./places.ts";

/** A piece for each row. */
export function tablePieces(block: LayoutBlock): Piece[] {
  const rows = [...(block.header === undefined ? [] : [block.header]), ...(block.rows ?? [])];
  const lines = pipeTable(rows.map((row) => row.map((cell) => storableText(cell.text)))).split("\n");
  return lines.map((text, index) => {
    const row = rows[index === 0 ? 0 : index - 1] ?? [];
    const cells = row.flatMap(({ bbox }) => (bbox === undefined ? [] : [bbox]));
    return { text, region: index === 1 ? undefined : unionOf(cells) };
  });
}
