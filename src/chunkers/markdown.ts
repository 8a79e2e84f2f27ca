/** The chunker `markdown`: no chunk goes beyond a section, which lasts from its heading to the next one. */

import type { TextUnit } from "../domain/text-unit.ts";
import type { Chunker } from "./chunk.ts";
import { packGroups } from "./pack.ts";
import { piecesOf } from "./pieces.ts";

/** Consecutive headings begin one section together. */
export const markdown: Chunker = (units, options, tokenizer) =>
  packGroups(sections(units), { options, tokenizer, cut: piecesOf });

function* sections(units: readonly TextUnit[]): Generator<readonly TextUnit[]> {
  let start = 0;
  for (let at = 1; at <= units.length; at++) {
    const begins = units[at]?.type === "heading" && units[at - 1]?.type !== "heading";
    if (at < units.length && !begins) continue;
    yield units.slice(start, at);
    start = at;
  }
}
