/** The embedding model's tokenizer in the form that chunkers expect. */

import { fileURLToPath } from "node:url";
import type { Tokenizer } from "../../../src/chunkers/chunk.ts";
import { loadWordPiece } from "../../../src/models/embedding/wordpiece.ts";

const wordPiece = loadWordPiece(
  fileURLToPath(new URL("../../../models/all-minilm-l6-v2-int8/vocab.txt", import.meta.url)),
);

export const modelTokenizer: Tokenizer = {
  countTokens: (text) => wordPiece.count(text),
  tokenOffsets: (text) => wordPiece.offsets(text),
};
