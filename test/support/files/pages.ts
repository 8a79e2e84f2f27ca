/** Makes files of pages whose look the test knows, and reads the pictures that are made of them. */

import { createHash } from "node:crypto";
import sharp from "sharp";
import { assemble } from "./text.ts";

interface DrawnPage {
  /** Operators of PDF's content streams: `1 0 0 rg 10 10 50 50 re f` is a red square. */
  readonly content: string;
  /** `/MediaBox`, `/CropBox`, `/Rotate` and what else a page may say. */
  readonly entries: string;
}

export function makeDrawnPdf(pages: readonly DrawnPage[]): Buffer {
  const kids = pages.map((_, index) => `${5 + index * 2} 0 R`).join(" ");
  const objects = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(`<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
    Buffer.from("<< >>"),
  ];
  pages.forEach(({ content, entries }, index) => {
    objects.push(
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> ${entries} ` +
          `/Contents ${6 + index * 2} 0 R >>`,
      ),
      Buffer.concat([
        Buffer.from(`<< /Length ${content.length} >>\nstream\n`),
        Buffer.from(content, "latin1"),
        Buffer.from("\nendstream"),
      ]),
    );
  });
  return assemble(objects, createHash("md5").update(JSON.stringify(pages)).digest(), undefined);
}

export interface Seen {
  readonly format: string;
  readonly width: number;
  readonly height: number;
  /**
   * The colour at a place that is given in fractions of the picture: `white`, `yellow` (white under a
   * highlight), `red`, `blue`, `black`, or its parts.
   */
  at(x: number, y: number): string;
}

const NAMES: readonly (readonly [string, readonly [number, number, number]])[] = [
  ["white", [255, 255, 255]],
  ["yellow", [255, 239, 157]],
  ["red", [255, 0, 0]],
  ["blue", [0, 0, 255]],
  ["black", [0, 0, 0]],
];

/** Decodes a picture. */
export async function see(picture: Uint8Array): Promise<Seen> {
  const { format } = await sharp(picture).metadata();
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return {
    format,
    width: info.width,
    height: info.height,
    at(x, y) {
      const column = Math.min(Math.floor(x * info.width), info.width - 1);
      const row = Math.min(Math.floor(y * info.height), info.height - 1);
      const from = (row * info.width + column) * info.channels;
      const colour = [...data.subarray(from, from + 3)];
      const found = NAMES.find(([, parts]) =>
        parts.every((part, index) => Math.abs(part - colour[index]!) < 14),
      );
      return found?.[0] ?? `rgb(${colour.join(", ")})`;
    },
  };
}
