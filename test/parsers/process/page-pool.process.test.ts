/** Pages are drawn in the sandbox, and one that is a bomb costs its sender alone. */

import { deflateSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import type { PictureRequest } from "../../../src/domain/locations/page-picture.ts";
import { createPagePool, PAGE_ENTRY, type PagePool } from "../../../src/parsers/process/page-pool.ts";
import { prepareSandbox } from "../../../src/parsers/process/sandbox/sandbox.ts";
import { makeDrawnPdf, see } from "../../support/files/pages.ts";
import { assemble, makeGarbagePdf, makeLongPdf } from "../../support/files/text.ts";
import { tmpdir } from "node:os";

let pool: PagePool | undefined;

afterEach(async () => {
  await pool?.close();
  pool = undefined;
});

const sender = { organizationId: "one", userId: "a" };
const neighbour = { organizationId: "two", userId: "b" };
const picture: PictureRequest = { page: 1, width: 300, format: "webp", boxes: [[0, 0, 0.5, 0.5]] };
const red = makeDrawnPdf([{ content: "1 0 0 rg 0 0 200 100 re f", entries: "/MediaBox [0 0 200 200]" }]);

const stream = (entries: string, body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<< ${entries} /Length ${body.length} >>\nstream\n`),
    body,
    Buffer.from("\nendstream"),
  ]);

/** Forms that draw the next one ten times, ten deep: ten thousand million squares in two kilobytes. */
function makeNestedBomb(): Buffer {
  const depth = 12;
  const forms = Array.from({ length: depth }, (_, level) =>
    stream(
      `/Type /XObject /Subtype /Form /BBox [0 0 100 100] /Resources << /XObject << /F ${8 + level} 0 R >> >>`,
      Buffer.from(level === depth - 1 ? "1 0 0 rg 0 0 50 50 re f" : "/F Do ".repeat(10)),
    ),
  );
  return assemble(
    [
      Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
      Buffer.from("<< /Type /Pages /Count 1 /Kids [5 0 R] >>"),
      Buffer.from("<< >>"),
      Buffer.from("<< >>"),
      Buffer.from(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Resources << /XObject << /F 7 0 R >> >> " +
          "/Contents 6 0 R >>",
      ),
      stream("", Buffer.from("/F Do")),
      ...forms,
    ],
    Buffer.alloc(16),
    undefined,
  );
}

/** A picture of 1,600 million pixels in the page. */
function makePictureBomb(): Buffer {
  const side = 40_000;
  const pixels = deflateSync(deflateSync(Buffer.alloc(side * 1_000)));
  return assemble(
    [
      Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
      Buffer.from("<< /Type /Pages /Count 1 /Kids [5 0 R] >>"),
      stream(
        `/Type /XObject /Subtype /Image /Width ${side} /Height ${side} /ColorSpace /DeviceRGB ` +
          "/BitsPerComponent 8 /Filter [/FlateDecode /FlateDecode]",
        pixels,
      ),
      Buffer.from("<< >>"),
      Buffer.from(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Resources << /XObject << /I 3 0 R >> >> " +
          "/Contents 6 0 R >>",
      ),
      stream("", Buffer.from("100 0 0 100 0 0 cm /I Do")),
    ],
    Buffer.alloc(16),
    undefined,
  );
}

test("a page is drawn inside every layer that this machine has", async () => {
  const sandbox = prepareSandbox({ entry: PAGE_ENTRY, folder: tmpdir() });
  expect((await sandbox).on).toContain("permissions");
  pool = createPagePool({ sandbox });

  const seen = await see(await pool.picture({ fileType: "PDF", bytes: red }, picture, { owner: sender }));

  expect(seen).toMatchObject({ format: "webp", width: 300, height: 300 });
  expect([seen.at(0.25, 0.25), seen.at(0.75, 0.75)]).toEqual(["yellow", "red"]);
  const sizes = await pool.sizes(
    { fileType: "PDF", bytes: makeLongPdf(30), pages: [29, 48] },
    { owner: sender },
  );
  expect(sizes).toEqual({
    total: 30,
    pages: [
      { number: 29, width: 612, height: 792 },
      { number: 30, width: 612, height: 792 },
    ],
  });
});

test("errors keep their codes on their way out of the process", async () => {
  pool = createPagePool();
  await expect(
    pool.picture({ fileType: "PDF", bytes: red }, { ...picture, page: 2 }, { owner: sender }),
  ).rejects.toMatchObject({ code: "not_found", reason: "page_not_found" });
  await expect(
    pool.picture({ fileType: "PDF", bytes: makeGarbagePdf() }, picture, { owner: sender }),
  ).rejects.toMatchObject({ code: "corrupt" });
  await expect(
    pool.picture({ fileType: "TEXT", bytes: Buffer.from("no pages") }, picture, { owner: sender }),
  ).rejects.toMatchObject({ code: "unsupported_file_type" });
});

/** A hundred thousand times the whole page, each time mixed with what is there. */
const slow = makeDrawnPdf([
  {
    content: "0.5 g 0 0 200 200 re 10 10 180 180 re f*\n".repeat(100_000),
    entries: "/MediaBox [0 0 200 200]",
  },
]);

test("a page that grows without end is given up", async () => {
  pool = createPagePool();
  await expect(
    pool.picture({ fileType: "PDF", bytes: makeNestedBomb() }, picture, { owner: sender }),
  ).rejects.toMatchObject({ code: "out_of_memory" });
});

test("a page that takes too long is given up, and another organization's page does not wait for it", async () => {
  pool = createPagePool({ timeoutMs: 6_000 });
  await pool.picture({ fileType: "PDF", bytes: red }, picture, { owner: sender });
  let hasEnded = false;
  const bomb = pool
    .picture({ fileType: "PDF", bytes: slow }, { ...picture, width: 2_000 }, { owner: sender })
    .then(
      () => "drawn",
      (error: { code: string }) => error.code,
    )
    .finally(() => (hasEnded = true));

  const others = await pool.picture({ fileType: "PDF", bytes: red }, picture, { owner: neighbour });

  expect(hasEnded).toBe(false);
  expect((await see(others)).at(0.75, 0.75)).toBe("red");
  expect(await bomb).toBe("timeout");
  expect(
    (await see(await pool.picture({ fileType: "PDF", bytes: red }, picture, { owner: sender }))).width,
  ).toBe(300);
});

test("a page that nobody waits for any more is not drawn on, and its process is free for the next", async () => {
  pool = createPagePool();
  await pool.picture({ fileType: "PDF", bytes: red }, picture, { owner: sender });
  const leaving = new AbortController();
  const fetched = Promise.withResolvers<void>();
  const late = {
    size: slow.length,
    async fetch() {
      fetched.resolve();
      return {
        input: { fileType: "PDF", bytes: slow } as const,
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  };
  const drawn = pool.picture(late, { ...picture, width: 2_000 }, { owner: sender, signal: leaving.signal });
  await fetched.promise;
  leaving.abort();
  await expect(drawn).rejects.toMatchObject({ name: "AbortError" });
  const next = await pool.picture({ fileType: "PDF", bytes: red }, picture, { owner: sender });
  expect((await see(next)).width).toBe(300);
});

test("a page with a picture of 1,600 million pixels costs bounded memory", async () => {
  pool = createPagePool({ timeoutMs: 20_000 });
  const outcome = await pool
    .picture({ fileType: "PDF", bytes: makePictureBomb() }, picture, { owner: sender })
    .then(
      async (bytes) => (await see(bytes)).width,
      (error: { code: string }) => error.code,
    );
  // PDFium leaves out a picture that it cannot hold; a process that took it would be killed for it.
  expect([300, "out_of_memory", "timeout", "corrupt"]).toContain(outcome);
  expect(
    (await see(await pool.picture({ fileType: "PDF", bytes: red }, picture, { owner: sender }))).width,
  ).toBe(300);
});
