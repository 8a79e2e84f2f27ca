/**
 * The pages of pictures: one, or as many as a TIFF has. They are shown as they are stored, without the turn
 * that a camera noted, since OCR reads them so and boxes follow what it reads.
 */

import type { Sharp } from "sharp";
import { DomainError } from "../../domain/errors.ts";
import type { PageSize, PageSizes } from "../../domain/locations/page-picture.ts";
import { readInput } from "../parser.ts";
import { draw, loadSharp } from "./draw.ts";
import { type PageReader, requireShowable } from "./page-reader.ts";

export const imagePages: PageReader = {
  async sizes(input) {
    const bytes = await readInput(input);
    return readable(() => sizesOf(bytes, input.pages ?? [1, 1]));
  },
  async picture(input, request) {
    const bytes = await readInput(input);
    return readable(async () => {
      requireShowable(await sizesOf(bytes, [request.page, request.page]), request);
      return draw(await pageOf(bytes, request.page), request);
    });
  },
  async warmUp() {
    await loadSharp();
  },
};

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    if (error instanceof Error && error.message.includes("pixel limit"))
      throw new DomainError("too_large", "The image has too many pixels to be shown.", { cause: error });
    throw new DomainError("corrupt", "The file is not a readable image.", { cause: error });
  }
}

async function pageOf(bytes: Uint8Array, page: number): Promise<Sharp> {
  // A picture without pages has page 0 alone; to name it is an error for some formats.
  return (await loadSharp())(bytes, page === 1 ? {} : { page: page - 1 });
}

async function sizesOf(bytes: Uint8Array, [first, last]: readonly [number, number]): Promise<PageSizes> {
  const { pages: total = 1 } = await (await pageOf(bytes, 1)).metadata();
  const pages: PageSize[] = [];
  for (let number = first; number <= Math.min(last, total); number++) {
    const { width, height } = await (await pageOf(bytes, number)).metadata();
    pages.push({ number, width, height });
  }
  return { total, pages };
}
