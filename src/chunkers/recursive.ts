/** The chunker `recursive`: cuts at the largest boundary that fits: unit, line, sentence, word or token. */

import type { Chunker } from "./chunk.ts";
import { packGroups } from "./pack.ts";
import { piecesOf } from "./pieces.ts";

export const recursive: Chunker = (units, options, tokenizer) =>
  packGroups([units], { options, tokenizer, cut: piecesOf });
