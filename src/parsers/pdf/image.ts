/** The parser of pictures of text (PNG, JPEG, TIFF), by OCR. */

import type { ParseResult } from "@llamaindex/liteparse";
import { DomainError } from "../../domain/errors.ts";
import { createHeadingPath } from "../heading-path.ts";
import { LITEPARSE_CONFIG, loadLiteparse, ocrConfig } from "./liteparse.ts";
import { readInput, type ParseInput, type Parser } from "../parser.ts";
import { pageUnits } from "./units.ts";

export const image: Parser = {
  name: "ocr",
  runsIn: "child",
  async parse(input) {
    const result = await recognize(input, await readInput(input));
    const path = createHeadingPath();
    const units = result.pages.flatMap((page) => pageUnits(page, path).map((found) => found.unit));
    if (units.length === 0) throw new DomainError("no_text", "No text was found in the image.");
    return { parser_name: image.name, units, page_count: result.totalPages, metadata: {}, warnings: [] };
  },
};

async function recognize(input: ParseInput, bytes: Buffer): Promise<ParseResult> {
  const Constructor = await loadLiteparse();
  if (input.ocr === undefined || Constructor === undefined)
    throw new DomainError("unsupported_file_type", "Images are not supported here: OCR is not available.");
  try {
    return await new Constructor({ ...LITEPARSE_CONFIG, ...ocrConfig(input.ocr) }).parse(bytes);
  } catch (error) {
    throw new DomainError("corrupt", "The file is not a readable image.", { cause: error });
  }
}
