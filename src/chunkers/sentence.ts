/**
 * The chunker `sentence`: as many whole sentences as fit, across units and pages. Tables, lists and code stay
 * whole if they fit.
 */

import type { Chunker } from "./chunk.ts";
import { packGroups } from "./pack.ts";
import { sentencesOf } from "./pieces.ts";

export const sentence: Chunker = (units, options, tokenizer) =>
  packGroups([units], { options, tokenizer, cut: sentencesOf });
