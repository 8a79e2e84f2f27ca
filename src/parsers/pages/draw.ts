/** Makes the picture that is answered: resizes a page, draws boxes over it and encodes it. */

import type { Sharp, SharpOptions } from "sharp";
import type { Box } from "../../domain/locations/location.ts";
import type { PictureRequest } from "../../domain/locations/page-picture.ts";

/** A yellow that text stays readable under. */
const HIGHLIGHT = { r: 255, g: 214, b: 10, alpha: 0.4 } as const;
/** Beyond each box, in parts of the width of the page: words are easier to read with some air. */
const AIR = 0.003;
/** A chunk has a box for each line of text; what has more is drawn in part. */
const MAX_BOXES = 2_000;

/** A picture of more pixels is not unpacked: it would take 400 MB. PDF pages have at most 20 million. */
const MAX_INPUT_PIXELS = 100_000_000;

type OpenPicture = (bytes: Uint8Array, options?: SharpOptions) => Sharp;

let opened: Promise<OpenPicture> | undefined;

/** Loads libvips, which then takes one core and keeps no cache: a process has one page at a time. */
export function loadSharp(): Promise<OpenPicture> {
  opened ??= import("sharp").then(({ default: sharp }) => {
    sharp.concurrency(1);
    sharp.cache(false);
    return (bytes, options) => sharp(bytes, { limitInputPixels: MAX_INPUT_PIXELS, ...options });
  });
  return opened;
}

/** `page` has the size of the whole page; the picture gets exactly the width that is asked for. */
export async function draw(page: Sharp, request: PictureRequest): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const { data, info } = await page
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .resize({ width: request.width })
    .raw()
    .toBuffer({ resolveWithObject: true });
  paint(data, info, request.boxes.slice(0, MAX_BOXES));
  const picture = sharp(data, {
    raw: { width: info.width, height: info.height, channels: info.channels },
  });
  return request.format === "png"
    ? picture.png({ compressionLevel: 6 }).toBuffer()
    : picture.webp({ quality: 85, effort: 2 }).toBuffer();
}

interface Extent {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
}

/** Mixes the highlight into the pixels of the boxes, once where several overlap. */
function paint(pixels: Buffer, { width, height, channels }: Extent, boxes: readonly Box[]): void {
  if (boxes.length === 0) return;
  const isPainted = new Uint8Array(width * height);
  const air = AIR * width;
  for (const [x0, y0, x1, y1] of boxes) {
    const left = within(Math.floor(x0 * width - air), width);
    const right = within(Math.ceil(x1 * width + air), width);
    const bottom = within(Math.ceil(y1 * height + air), height);
    for (let y = within(Math.floor(y0 * height - air), height); y < bottom; y++)
      isPainted.fill(1, y * width + left, Math.max(y * width + right, y * width + left));
  }
  for (let pixel = 0; pixel < isPainted.length; pixel++) {
    if (isPainted[pixel] === 0) continue;
    const at = pixel * channels;
    pixels[at] = mix(pixels[at]!, HIGHLIGHT.r);
    pixels[at + 1] = mix(pixels[at + 1]!, HIGHLIGHT.g);
    pixels[at + 2] = mix(pixels[at + 2]!, HIGHLIGHT.b);
  }
}

const within = (pixel: number, size: number): number => Math.min(Math.max(pixel, 0), size);

/** Multiplies, as a marker on paper does: black stays black. */
const mix = (below: number, colour: number): number =>
  Math.round(below * (1 - HIGHLIGHT.alpha) + ((below * colour) / 255) * HIGHLIGHT.alpha);
