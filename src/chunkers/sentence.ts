/** The chunker `sentence`: whole sentences across units and pages. Tables, lists, code stay whole. */

import type { Chunker } from "./chunk.ts";
import { packGroups } from "./pack.ts";
import { sentencesOf } from "./pieces.ts";

export const sentence: Chunker = (units, options, tokenizer) =>
  packGroups([units], { options, tokenizer, cut: sentencesOf });
