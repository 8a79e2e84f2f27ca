/** The pages of PDF files, as PDFium shows them: cropped, turned, with their annotations. */

import type { LiteParseConfig } from "@llamaindex/liteparse";
import { DomainError } from "../../domain/errors.ts";
import type { PageSizes } from "../../domain/locations/page-picture.ts";
import { type LiteParseConstructor, LITEPARSE_CONFIG, loadLiteparse } from "../pdf/liteparse.ts";
import { type ParseInput, readInput } from "../parser.ts";
import { draw, loadSharp } from "./draw.ts";
import { type PageReader, requireShowable } from "./page-reader.ts";

const POINTS_PER_INCH = 72;

export const pdfPages: PageReader = {
  sizes: async (input) =>
    opened(input, (Constructor, source) => sizesOf(Constructor, source, input.pages ?? [1, 1])),
  picture: async (input, request) =>
    opened(input, async (Constructor, source) => {
      const { page } = request;
      const size = requireShowable(await sizesOf(Constructor, source, [page, page]), request);
      const dpi = (request.width * POINTS_PER_INCH) / size.width;
      const [shown] = await new Constructor(configOf({ dpi })).screenshot(source, [page]);
      if (shown === undefined) throw new DomainError("corrupt", `Page ${page} cannot be shown.`);
      return draw((await loadSharp())(shown.imageBuffer), request);
    }),
  async warmUp() {
    await Promise.all([loadLiteparse(), loadSharp()]);
  },
};

async function opened<T>(
  input: ParseInput,
  use: (Constructor: LiteParseConstructor, source: Buffer) => Promise<T>,
): Promise<T> {
  const Constructor = await loadLiteparse();
  if (Constructor === undefined)
    throw new DomainError("unsupported_file_type", "PDF pages cannot be shown on this platform.");
  const source = await readInput(input);
  try {
    return await use(Constructor, source);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    if (error instanceof Error && error.message.includes("password"))
      throw new DomainError("encrypted", "The PDF is protected by a password.");
    throw new DomainError("corrupt", "The file is not a readable PDF.", { cause: error });
  }
}

const configOf = (more: Partial<LiteParseConfig>): Partial<LiteParseConfig> => ({
  ...LITEPARSE_CONFIG,
  extractBlocks: false,
  extractDocumentMetadata: false,
  ...more,
});

async function sizesOf(
  Constructor: LiteParseConstructor,
  source: Buffer,
  [first, last]: readonly [number, number],
): Promise<PageSizes> {
  const parser = new Constructor(configOf({ targetPages: `${first}-${last}` }));
  const { totalPages: total, pages } = await parser.parse(source);
  const byNumber = new Map(pages.map((page) => [page.pageNum, page]));
  const numbers = Array.from(
    { length: Math.max(0, Math.min(last, total) - first + 1) },
    (_, at) => first + at,
  );
  return {
    total,
    pages: numbers.map((number) => {
      const page = byNumber.get(number);
      return { number, width: page?.width ?? null, height: page?.height ?? null };
    }),
  };
}
