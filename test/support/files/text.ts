/** Makes files to parse (PDF, TIFF) from text that the test knows. */

import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

/** A line of text on a page; y counts from the bottom in points, as PDF does. */
export interface PdfLine {
  readonly text: string;
  readonly size?: number;
  readonly x?: number;
  readonly y?: number;
}

interface PdfOptions {
  readonly title?: string;
  readonly author?: string;
  /** If set, the file cannot be read without it (RC4, 40 bits). */
  readonly userPassword?: string;
  /** Left, bottom, right and top, in points. Default: a page of US Letter. */
  readonly mediaBox?: readonly [number, number, number, number];
  /** What else a page's dictionary has, for example `/Rotate 90`. */
  readonly pageEntries?: string;
}

const PAGE_WIDTH = 612;
const PAGE_HEIGHT = 792;
const MARGIN = 72;

/**
 * Makes a PDF with one page for each list of lines; lines without a position follow each other from the top.
 */
export function makePdf(pages: readonly (readonly (PdfLine | string)[])[], options: PdfOptions = {}): Buffer {
  const fileId = createHash("md5").update(JSON.stringify(pages)).digest();
  const protection = options.userPassword === undefined ? undefined : protect(options.userPassword, fileId);
  const mediaBox = options.mediaBox ?? [0, 0, PAGE_WIDTH, PAGE_HEIGHT];
  const firstPage = 5;
  const objects: Buffer[] = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(
      `<< /Type /Pages /Count ${pages.length} /Kids ` +
        `[${pages.map((_, index) => `${firstPage + index * 2} 0 R`).join(" ")}] >>`,
    ),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"),
    Buffer.from(
      protection === undefined
        ? `<< /Title (${escaped(options.title ?? "")}) /Author (${escaped(options.author ?? "")}) >>`
        : "<< >>",
    ),
  ];
  pages.forEach((lines, index) => {
    const number = firstPage + index * 2;
    const content = Buffer.from(pageContent(lines), "latin1");
    const stored = protection === undefined ? content : rc4(objectKey(protection.key, number + 1), content);
    objects.push(
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [${mediaBox.join(" ")}] /Resources << /Font ` +
          `<< /F1 3 0 R >> >> /Contents ${number + 1} 0 R ${options.pageEntries ?? ""} >>`,
      ),
      Buffer.concat([
        Buffer.from(`<< /Length ${stored.length} >>\nstream\n`),
        stored,
        Buffer.from("\nendstream"),
      ]),
    );
  });
  return assemble(objects, fileId, protection?.dictionary);
}

/** Makes a PDF of `count` pages, each with a heading and two sentences that contain its page number. */
export function makeLongPdf(count: number): Buffer {
  return makePdf(
    Array.from({ length: count }, (_, index) => [
      { text: `Chapter ${index + 1}`, size: 20 },
      `This is the text of page ${index + 1}. It says nothing else.`,
    ]),
  );
}

/**
 * Makes a PDF of one page whose lines may be of any script; characters are drawn from left to right in the
 * order given.
 */
export function makeUnicodePdf(lines: readonly string[]): Buffer {
  const hex = (text: string): string => Buffer.from(text, "utf16le").swap16().toString("hex");
  const characters = Array.from(new Set(lines.join("")));
  const map =
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def 1 begincodespacerange " +
    `<0000> <FFFF> endcodespacerange ${characters.length} beginbfchar ` +
    `${characters.map((character) => `<${hex(character)}> <${hex(character)}>`).join(" ")} endbfchar ` +
    "endcmap end end";
  const content = lines
    .map((line, index) => `BT /F1 14 Tf 72 ${700 - index * 40} Td <${hex(line)}> Tj ET`)
    .join("\n");
  const stream = (body: string): Buffer =>
    Buffer.from(`<< /Length ${body.length} >>\nstream\n${body}\nendstream`);
  const objects = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from("<< /Type /Pages /Count 1 /Kids [5 0 R] >>"),
    Buffer.from(
      "<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H /DescendantFonts [7 0 R] " +
        "/ToUnicode 8 0 R >>",
    ),
    Buffer.from("<< >>"),
    Buffer.from(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE_WIDTH} ${PAGE_HEIGHT}] /Resources << /Font ` +
        "<< /F1 3 0 R >> >> /Contents 6 0 R >>",
    ),
    stream(content),
    Buffer.from(
      "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /CIDSystemInfo << /Registry (Adobe) " +
        "/Ordering (Identity) /Supplement 0 >> /DW 700 /FontDescriptor 9 0 R >>",
    ),
    stream(map),
    Buffer.from(
      "<< /Type /FontDescriptor /FontName /Any /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 " +
        "/Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >>",
    ),
  ];
  return assemble(objects, createHash("md5").update(lines.join()).digest(), undefined);
}

/** Makes a PDF whose only page is this picture, as a scanner makes it. */
export function makeScannedPdf({
  width,
  height,
  rgb,
}: {
  width: number;
  height: number;
  rgb: Buffer;
}): Buffer {
  const pixels = deflateSync(rgb);
  const content = Buffer.from(`q ${PAGE_WIDTH} 0 0 ${PAGE_HEIGHT} 0 0 cm /Scan Do Q`);
  const dictionary =
    `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB ` +
    `/BitsPerComponent 8 /Filter /FlateDecode /Length ${pixels.length} >>`;
  const objects = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from("<< /Type /Pages /Count 1 /Kids [5 0 R] >>"),
    Buffer.concat([Buffer.from(`${dictionary}\nstream\n`), pixels, Buffer.from("\nendstream")]),
    Buffer.from("<< >>"),
    Buffer.from(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE_WIDTH} ${PAGE_HEIGHT}] /Resources << ` +
        "/XObject << /Scan 3 0 R >> >> /Contents 6 0 R >>",
    ),
    Buffer.concat([
      Buffer.from(`<< /Length ${content.length} >>\nstream\n`),
      content,
      Buffer.from("\nendstream"),
    ]),
  ];
  return assemble(objects, createHash("md5").update(rgb).digest(), undefined);
}

/** Makes a file that begins like a PDF and is otherwise garbage. */
export function makeGarbagePdf(): Buffer {
  const noise = Buffer.alloc(4096);
  for (let at = 0; at < noise.length; at++) noise[at] = (at * 131 + 17) % 256;
  return Buffer.concat([Buffer.from("%PDF-1.7\n"), noise]);
}

/** Returns the first half of a file. */
export function truncated(file: Buffer): Buffer {
  return file.subarray(0, Math.floor(file.length / 2));
}

function assemble(objects: readonly Buffer[], fileId: Buffer, encryption: string | undefined): Buffer {
  const all = encryption === undefined ? objects : [...objects, Buffer.from(encryption, "latin1")];
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  const offsets: number[] = [];
  let offset = parts[0]!.length;
  all.forEach((body, index) => {
    offsets.push(offset);
    const object = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from("\nendobj\n")]);
    parts.push(object);
    offset += object.length;
  });
  const entries = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const id = fileId.toString("hex");
  const encrypt = encryption === undefined ? "" : ` /Encrypt ${all.length} 0 R`;
  parts.push(
    Buffer.from(
      `xref\n0 ${all.length + 1}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${all.length + 1} ` +
        `/Root 1 0 R /Info 4 0 R /ID [<${id}> <${id}>]${encrypt} >>\nstartxref\n${offset}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

function pageContent(lines: readonly (PdfLine | string)[]): string {
  let next = PAGE_HEIGHT - MARGIN;
  const drawn = lines.map((entry) => {
    const line = typeof entry === "string" ? { text: entry } : entry;
    const size = line.size ?? 11;
    const y = line.y ?? next - size;
    next = y - size * 0.4;
    return `BT /F1 ${size} Tf ${line.x ?? MARGIN} ${y} Td (${escaped(line.text)}) Tj ET`;
  });
  return drawn.join("\n");
}

function escaped(text: string): string {
  return text.replace(/[\\()]/g, (character) => `\\${character}`);
}

const PASSWORD_PADDING = Buffer.from(
  "28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a",
  "hex",
);
const PERMISSIONS = -4;

/** The standard security handler, revision 2 (PDF 32000-1, algorithms 2, 3 and 4). */
function protect(userPassword: string, fileId: Buffer): { key: Buffer; dictionary: string } {
  const user = Buffer.concat([Buffer.from(userPassword, "latin1"), PASSWORD_PADDING]).subarray(0, 32);
  const owner = rc4(createHash("md5").update(user).digest().subarray(0, 5), user);
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE(PERMISSIONS);
  const key = createHash("md5")
    .update(Buffer.concat([user, owner, permissions, fileId]))
    .digest()
    .subarray(0, 5);
  const check = rc4(key, PASSWORD_PADDING);
  const dictionary =
    `<< /Filter /Standard /V 1 /R 2 /O <${owner.toString("hex")}> /U <${check.toString("hex")}> /P ` +
    `${PERMISSIONS} >>`;
  return { key, dictionary };
}

function objectKey(key: Buffer, objectNumber: number): Buffer {
  const suffix = Buffer.from([
    objectNumber & 0xff,
    (objectNumber >> 8) & 0xff,
    (objectNumber >> 16) & 0xff,
    0,
    0,
  ]);
  return createHash("md5")
    .update(Buffer.concat([key, suffix]))
    .digest()
    .subarray(0, 10);
}

/** Encrypts by RC4, which OpenSSL 3 no longer offers. */
function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Array.from({ length: 256 }, (_, index) => index);
  const swap = (a: number, b: number): void => {
    [state[a], state[b]] = [state[b]!, state[a]!];
  };
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + state[i]! + key[i % key.length]!) % 256;
    swap(i, j);
  }
  const out = Buffer.alloc(data.length);
  for (let at = 0, i = 0, j = 0; at < data.length; at++) {
    i = (i + 1) % 256;
    j = (j + state[i]!) % 256;
    swap(i, j);
    out[at] = data[at]! ^ state[(state[i]! + state[j]!) % 256]!;
  }
  return out;
}

/** Makes an uncompressed TIFF 6.0 picture with all pixels in one strip. */
export function makeTiff({ width, height, rgb }: { width: number; height: number; rgb: Buffer }): Buffer {
  const SHORT = 3;
  const LONG = 4;
  const fields: readonly [tag: number, type: number, count: number, value: number][] = [
    [256, LONG, 1, width],
    [257, LONG, 1, height],
    [258, SHORT, 3, 8],
    [259, SHORT, 1, 1],
    [262, SHORT, 1, 2],
    [273, LONG, 1, 14],
    [277, SHORT, 1, 3],
    [278, LONG, 1, height],
    [279, LONG, 1, rgb.length],
  ];
  const head = Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0, 8, 0, 8, 0, 8, 0]);
  const directoryAt = head.length + rgb.length + (rgb.length % 2);
  head.writeUInt32LE(directoryAt, 4);
  const directory = Buffer.alloc(2 + fields.length * 12 + 4);
  directory.writeUInt16LE(fields.length, 0);
  for (const [index, [tag, type, count, value]] of fields.entries()) {
    const at = 2 + index * 12;
    directory.writeUInt16LE(tag, at);
    directory.writeUInt16LE(type, at + 2);
    directory.writeUInt32LE(count, at + 4);
    directory.writeUInt32LE(value, at + 8);
  }
  return Buffer.concat([head, rgb, Buffer.alloc(rgb.length % 2), directory]);
}
