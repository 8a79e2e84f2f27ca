/** The chunker `page_based`: as many whole units of one page as fit. */

import type { TextUnit } from "../domain/text-unit.ts";
import type { Chunker } from "./chunk.ts";
import { packGroups } from "./pack.ts";
import { piecesOf } from "./pieces.ts";

/** No chunk spans pages; a document without pages is one page. */
export const pageBased: Chunker = (units, options, tokenizer) =>
  packGroups(pages(units), { options, tokenizer, cut: piecesOf });

function* pages(units: readonly TextUnit[]): Generator<readonly TextUnit[]> {
  let start = 0;
  for (let at = 1; at <= units.length; at++) {
    if (at < units.length && units[at]?.page === units[start]?.page) continue;
    yield units.slice(start, at);
    start = at;
  }
}
