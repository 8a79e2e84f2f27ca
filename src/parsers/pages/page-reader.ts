/** What a format needs so that its pages can be shown. */

import { DomainError } from "../../domain/errors.ts";
import type { PageSize, PageSizes, PictureRequest } from "../../domain/locations/page-picture.ts";
import { MAX_PICTURE_HEIGHT } from "../../domain/locations/page-picture.ts";
import { notFound } from "../../domain/not-found.ts";
import type { ParseInput } from "../parser.ts";

/** Runs in a parser process. Both throw DomainError `encrypted` or `corrupt` for an unreadable file. */
export interface PageReader {
  /** The sizes of the pages `input.pages`, as far as there are such pages. */
  sizes(input: ParseInput): Promise<PageSizes>;
  /** The page as PNG or WebP. @throws DomainError `page_not_found`; `too_large` if it would be too high */
  picture(input: ParseInput, request: PictureRequest): Promise<Uint8Array>;
  /** Loads what the first page would otherwise wait for. */
  warmUp(): Promise<void>;
}

/** The page if there is one that can be read, and its picture is not too high. */
export function requireShowable(
  { total, pages }: PageSizes,
  { page, width }: PictureRequest,
): { readonly width: number; readonly height: number } {
  if (page > total) throw notFound("page");
  const size = pages.find(({ number }) => number === page);
  if (size === undefined || !isKnown(size)) throw new DomainError("corrupt", `Page ${page} cannot be read.`);
  const height = (width * size.height) / size.width;
  if (height > MAX_PICTURE_HEIGHT) throw tooHigh(size, page);
  return size;
}

function isKnown(size: PageSize): size is PageSize & { readonly width: number; readonly height: number } {
  return size.width !== null && size.height !== null && size.width > 0 && size.height > 0;
}

function tooHigh(size: { readonly width: number; readonly height: number }, page: number): DomainError {
  const most = Math.max(1, Math.floor((MAX_PICTURE_HEIGHT * size.width) / size.height));
  return new DomainError(
    "too_large",
    `The picture of page ${page} would be taller than ${MAX_PICTURE_HEIGHT} pixels. ` +
      `Ask for a width of at most ${most}.`,
  );
}
