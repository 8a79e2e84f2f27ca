/** Pages look as they are shown, and what is highlighted is what the boxes name. */
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import type { Box } from "../../../src/domain/locations/location.ts";
import type { PictureRequest } from "../../../src/domain/locations/page-picture.ts";
import { pagesOf } from "../../../src/parsers/pages/index.ts";
import { makeDrawnPdf, see, type Seen } from "../../support/files/pages.ts";
import { makeGarbagePdf, makePdf, truncated } from "../../support/files/text.ts";

type Paged = "PDF" | "PNG" | "JPEG" | "TIFF";

const show = async (
  fileType: Paged,
  bytes: Uint8Array,
  request: Partial<PictureRequest> = {},
): Promise<Seen> =>
  see(
    await pagesOf(fileType).picture(
      { fileType, bytes },
      { page: 1, width: 400, format: "png", boxes: [], ...request },
    ),
  );

const sizes = (fileType: Paged, bytes: Uint8Array, pages: readonly [number, number] = [1, 20]) =>
  pagesOf(fileType).sizes({ fileType, bytes, pages });

/** A page of 300 by 200 with a red square in its lower left and a blue one in its upper right corner. */
const SQUARES = "1 0 0 rg 0 0 100 50 re f 0 0 1 rg 200 150 100 50 re f";

describe("a PDF", () => {
  test("is shown upright, in the width that is asked for", async () => {
    const file = makeDrawnPdf([{ content: SQUARES, entries: "/MediaBox [0 0 300 200]" }]);
    expect(await sizes("PDF", file)).toEqual({ total: 1, pages: [{ number: 1, width: 300, height: 200 }] });
    for (const format of ["png", "webp"] as const) {
      const seen = await show("PDF", file, { format });
      expect(seen).toMatchObject({ format, width: 400, height: 267 });
      expect([seen.at(0.1, 0.9), seen.at(0.9, 0.1), seen.at(0.1, 0.1)]).toEqual(["red", "blue", "white"]);
    }
  });

  test.each([
    { rotate: 0, width: 400, height: 267, red: [0.1, 0.9], blue: [0.9, 0.1] },
    { rotate: 90, width: 400, height: 600, red: [0.1, 0.1], blue: [0.9, 0.9] },
    { rotate: 180, width: 400, height: 267, red: [0.9, 0.1], blue: [0.1, 0.9] },
    { rotate: 270, width: 400, height: 600, red: [0.9, 0.9], blue: [0.1, 0.1] },
  ] as const)("turned by $rotate degrees has its boxes where it is seen", async (turned) => {
    const file = makeDrawnPdf([
      { content: SQUARES, entries: `/MediaBox [0 0 300 200] /Rotate ${turned.rotate}` },
    ]);
    const [size] = (await sizes("PDF", file)).pages;
    expect([size!.width, size!.height]).toEqual(turned.rotate % 180 === 0 ? [300, 200] : [200, 300]);

    const box: Box = [0.4, 0.4, 0.6, 0.6];
    const seen = await show("PDF", file, { boxes: [box] });

    expect([seen.width, seen.height]).toEqual([turned.width, turned.height]);
    expect([seen.at(turned.red[0], turned.red[1]), seen.at(turned.blue[0], turned.blue[1])]).toEqual([
      "red",
      "blue",
    ]);
    expect([seen.at(0.5, 0.5), seen.at(0.41, 0.59)]).toEqual(["yellow", "yellow"]);
    expect([seen.at(0.37, 0.5), seen.at(0.5, 0.63), seen.at(0.63, 0.5)]).toEqual(["white", "white", "white"]);
  });

  test("that is cropped and turned shows the part that is left", async () => {
    const content = "1 0 0 rg 0 0 300 200 re f 1 1 1 rg 50 50 200 100 re f 0 0 1 rg 50 50 20 10 re f";
    const file = makeDrawnPdf([
      { content, entries: "/MediaBox [0 0 300 200] /CropBox [50 50 250 150] /Rotate 90" },
    ]);
    expect((await sizes("PDF", file)).pages).toEqual([{ number: 1, width: 100, height: 200 }]);
    const seen = await show("PDF", file, { boxes: [[0.5, 0.5, 1, 1]] });
    expect([seen.width, seen.height]).toEqual([400, 800]);
    expect([seen.at(0.02, 0.02), seen.at(0.9, 0.02), seen.at(0.02, 0.98)]).toEqual([
      "blue",
      "white",
      "white",
    ]);
    expect([seen.at(0.48, 0.75), seen.at(0.52, 0.75), seen.at(0.99, 0.99)]).toEqual([
      "white",
      "yellow",
      "yellow",
    ]);
  });

  test("of 5 m is shown in as many pixels as are asked for", async () => {
    const side = 14_173;
    const file = makeDrawnPdf([
      { content: `1 0 0 rg 0 0 ${side} ${side / 2} re f`, entries: `/MediaBox [0 0 ${side} ${side}]` },
    ]);
    const seen = await show("PDF", file, { width: 2_000 });
    expect([seen.width, seen.height, seen.at(0.5, 0.25), seen.at(0.5, 0.75)]).toEqual([
      2_000,
      2_000,
      "white",
      "red",
    ]);
  });

  test("too high for the width is refused with the width that it may have", async () => {
    const file = makeDrawnPdf([{ content: SQUARES, entries: "/MediaBox [0 0 100 5000]" }]);
    await expect(show("PDF", file)).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("at most 200."),
    });
    expect(await show("PDF", file, { width: 200 })).toMatchObject({ width: 200, height: 10_000 });
  });

  test("text under a highlight stays black, and boxes that overlap are one", async () => {
    const file = makeDrawnPdf([{ content: "0 0 0 rg 0 0 50 100 re f", entries: "/MediaBox [0 0 100 100]" }]);
    const seen = await show("PDF", file, {
      boxes: [
        [0, 0, 1, 0.6],
        [0, 0.4, 1, 1],
      ],
    });
    expect([seen.at(0.25, 0.5), seen.at(0.75, 0.5), seen.at(0.75, 0.2)]).toEqual([
      "black",
      "yellow",
      "yellow",
    ]);
  });

  test("has the pages that are asked for, and no others", async () => {
    const file = makePdf([["one"], ["two"], ["three"]]);
    expect((await sizes("PDF", file, [2, 3])).pages.map(({ number }) => number)).toEqual([2, 3]);
    expect(await sizes("PDF", file, [21, 40])).toEqual({ total: 3, pages: [] });
    await expect(show("PDF", file, { page: 4 })).rejects.toMatchObject({ reason: "page_not_found" });
  });

  test("with a password or damage is refused by what is wrong with it", async () => {
    await expect(show("PDF", makePdf([["a"]], { userPassword: "x" }))).rejects.toMatchObject({
      code: "encrypted",
    });
    for (const file of [makeGarbagePdf(), truncated(makeGarbagePdf())]) {
      await expect(show("PDF", file)).rejects.toMatchObject({ code: "corrupt" });
      await expect(sizes("PDF", file)).rejects.toMatchObject({ code: "corrupt" });
    }
  });
});

describe("a picture", () => {
  const halves = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: "#ffffff" } }).composite([
      {
        input: { create: { width: width / 2, height, channels: 3, background: "#0000ff" } },
        left: 0,
        top: 0,
      },
    ]);

  test.each([
    ["PNG", "png"],
    ["JPEG", "jpeg"],
    ["TIFF", "tiff"],
  ] as const)("%s has one page in pixels, with its highlight", async (fileType, format) => {
    const bytes = await halves(120, 60).toFormat(format).toBuffer();
    expect(await sizes(fileType, bytes)).toEqual({
      total: 1,
      pages: [{ number: 1, width: 120, height: 60 }],
    });
    const seen = await show(fileType, bytes, { boxes: [[0.75, 0.5, 1, 1]] });
    expect([seen.width, seen.height]).toEqual([400, 200]);
    expect([seen.at(0.25, 0.5), seen.at(0.7, 0.75), seen.at(0.8, 0.75)]).toEqual(["blue", "white", "yellow"]);
    await expect(show(fileType, bytes, { page: 2 })).rejects.toMatchObject({ reason: "page_not_found" });
  });

  test("that lets light through, or has one channel of 16 bits, is shown on white", async () => {
    const clear = await sharp({
      create: { width: 20, height: 20, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0 } },
    })
      .png()
      .toBuffer();
    expect((await show("PNG", clear)).at(0.5, 0.5)).toBe("white");
    const grey = await halves(40, 40).toColourspace("grey16").png().toBuffer();
    const seen = await show("PNG", grey, { boxes: [[0.6, 0, 1, 1]] });
    expect(seen.at(0.8, 0.5)).toBe("yellow");
  });

  test("of several pages shows each", async () => {
    const page = (background: string) =>
      sharp({ create: { width: 10, height: 20, channels: 3, background } })
        .png()
        .toBuffer();
    const tiff = await sharp([await page("#ff0000"), await page("#0000ff")], { join: { animated: true } })
      .tiff()
      .toBuffer();
    expect((await sizes("TIFF", tiff)).pages).toEqual([
      { number: 1, width: 10, height: 20 },
      { number: 2, width: 10, height: 20 },
    ]);
    expect((await show("TIFF", tiff, { page: 1 })).at(0.5, 0.5)).toBe("red");
    expect((await show("TIFF", tiff, { page: 2 })).at(0.5, 0.5)).toBe("blue");
  });

  test("of too many pixels, or cut off, is refused", async () => {
    const huge = await sharp({ create: { width: 12_000, height: 12_000, channels: 3, background: "#fff" } })
      .png()
      .toBuffer();
    await expect(show("PNG", huge)).rejects.toMatchObject({ code: "too_large" });
    const cut = truncated(await halves(400, 400).png().toBuffer());
    await expect(show("PNG", cut)).rejects.toMatchObject({ code: "corrupt" });
  });
});
