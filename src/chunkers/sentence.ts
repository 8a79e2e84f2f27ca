/** The chunker `sentence`: as many whole sentences as fit, over units and pages; tables, lists and code stay whole where they can. */

import type { Chunker } from "./chunk.ts";
import { packGroups } from "./pack.ts";
import { sentencesOf } from "./pieces.ts";

export const sentence: Chunker = (units, options, tokenizer) =>
  packGroups([units], { options, tokenizer, cut: sentencesOf });
