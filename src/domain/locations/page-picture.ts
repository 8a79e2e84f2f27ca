/** Pages as pictures: what may be asked for, and its bounds. */

import type { FileType } from "../file-type.ts";
import type { Box } from "./location.ts";

export const PICTURE_FORMATS = ["png", "webp"] as const;
export const MAX_PICTURE_WIDTH = 2_000;
/** Of a page that is 50 times as high as it is wide, 200 pixels of width. */
export const MAX_PICTURE_HEIGHT = 10_000;

export interface PictureRequest {
  /** From 1. */
  readonly page: number;
  /** Pixels. */
  readonly width: number;
  readonly format: (typeof PICTURE_FORMATS)[number];
  /** Drawn over the page. */
  readonly boxes: readonly Box[];
}

/** In points (PDF) or pixels (pictures), as the page is shown: cropped and turned. */
export interface PageSize {
  readonly number: number;
  /** Both null if the page cannot be read. */
  readonly width: number | null;
  readonly height: number | null;
}

export interface PageSizes {
  readonly total: number;
  /** Sizes of the pages that were asked for. */
  readonly pages: readonly PageSize[];
}

const PAGED: ReadonlySet<FileType> = new Set<FileType>(["PDF", "PNG", "JPEG", "TIFF"]);

export const hasPages = (fileType: FileType): boolean => PAGED.has(fileType);
