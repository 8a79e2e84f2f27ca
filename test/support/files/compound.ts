/** Makes compound files to parse: Outlook messages, old presentations and old Word files. */

import { CFB } from "@e965/xlsx";

type Streams = Readonly<Record<string, Buffer | string>>;

/** Makes a compound file of these streams; strings are written as UTF-16, as Outlook does. */
function makeCompoundFile(streams: Streams): Buffer {
  const file = CFB.utils.cfb_new();
  for (const [path, content] of Object.entries(streams))
    CFB.utils.cfb_add(
      file,
      `/${path}`,
      typeof content === "string" ? Buffer.from(content, "utf16le") : content,
    );
  return Buffer.from(CFB.write(file, { type: "buffer" }));
}

export function makeMsg(streams: Streams): Buffer {
  return makeCompoundFile({ "__properties_version1.0": Buffer.alloc(32), ...streams });
}

const record = (type: number, options: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(options, 0);
  head.writeUInt16LE(type, 2);
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
};
const container = (type: number, ...children: Buffer[]): Buffer =>
  record(type, 0x000f, Buffer.concat(children));
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const text = (kind: number, content: string): Buffer[] => [
  record(0x0f9f, 0, number(kind)),
  record(0x0fa0, 0, Buffer.from(content, "utf16le")),
];

/**
 * Makes a presentation. Each slide has a title and a body in the document's list of texts, a shape of its
 * own, and notes.
 */
export function makePpt(
  slides: readonly { title: string; body: string; shape: string; notes: string }[],
): Buffer {
  const persist = (id: number): Buffer =>
    record(0x03f3, 0, Buffer.concat([Buffer.alloc(12), number(id), Buffer.alloc(4)]));
  const list = container(
    0x0ff0,
    ...slides.flatMap((slide, index) => [
      persist(256 + index),
      ...text(0, slide.title),
      ...text(1, slide.body),
    ]),
  );
  const stream = Buffer.concat([
    container(0x03e8, list),
    container(
      0x03f0,
      record(0x03f1, 0, number(0)),
      container(0xf00d, ...text(2, "Click to edit the master")),
    ),
    ...slides.map((slide) => container(0x03ee, container(0xf00d, ...text(4, slide.shape)))),
    ...slides.map((slide, index) =>
      container(0x03f0, record(0x03f1, 0, number(256 + index)), container(0xf00d, ...text(2, slide.notes))),
    ),
  ]);
  return makeCompoundFile({ "PowerPoint Document": stream });
}

const BLOCK = 512;
const TEXT_AT = 2 * BLOCK;
/** sprmPFTtp of [MS-DOC] 2.6.2: the paragraph is the end of a table's row. */
const ROW_END = Buffer.from([0x00, 0x00, 0x17, 0x24, 0x01, 0x00]);

interface WordText {
  /**
   * One entry a paragraph. A string that begins with # to ######### is a heading of that level; a list of
   * strings is a row of a table, a cell each.
   */
  readonly body: readonly (string | readonly string[])[];
  readonly footnotes?: readonly string[];
}

/**
 * Makes an old Word file of at most 20 paragraphs and cells. Text up to the first character beyond ASCII
 * takes one byte a character; the rest is UTF-16.
 */
export function makeDoc({ body, footnotes = [] }: WordText): Buffer {
  const paragraphs = body.flatMap((part): WordParagraph[] =>
    typeof part === "string"
      ? [styled(part)]
      : [...part.map((cell) => ({ text: `${cell}\x07`, style: 0 })), { text: "\x07", style: "row end" }],
  );
  const notes = footnotes.map((note) => `${note}\r`).join("");
  const main = paragraphs.map(({ text: content }) => content).join("");
  const beyond = main.search(/[\u0080-\uffff]/);
  const narrow = main.slice(0, Math.min(beyond === -1 ? main.length : beyond, Math.floor(main.length / 2)));
  const wide = main.slice(narrow.length) + notes + "\r";
  const texts = [Buffer.from(narrow, "latin1"), Buffer.from(wide, "utf16le")] as const;
  const wideAt = TEXT_AT + texts[0].length + (texts[0].length % 2);
  const fileOffset = (position: number): number =>
    position < narrow.length ? TEXT_AT + position : wideAt + 2 * (position - narrow.length);
  const propertiesAt = Math.ceil((wideAt + texts[1].length) / BLOCK);
  const pieces = Buffer.concat([
    Buffer.from([0x02]),
    number(28),
    ...[0, narrow.length, narrow.length + wide.length].map(number),
    piece(TEXT_AT * 2 + 0x40000000),
    piece(wideAt),
  ]);
  const table = Buffer.concat([
    pieces,
    number(TEXT_AT),
    number(wideAt + texts[1].length),
    number(propertiesAt),
  ]);
  const stream = Buffer.alloc((propertiesAt + 1) * BLOCK);
  const head: readonly [at: number, value: number][] = [
    [0x00, 0x00c1a5ec],
    [0x18, TEXT_AT],
    [0x4c, main.length],
    [0x50, notes.length],
    [0x0102, pieces.length],
    [0x0106, 12],
    [0x01a2, 0],
    [0x01a6, pieces.length],
  ];
  for (const [at, value] of head) stream.writeUInt32LE(value, at);
  stream.writeUInt16LE(0x0200, 0x0a);
  texts[0].copy(stream, TEXT_AT);
  texts[1].copy(stream, wideAt);
  paragraphProperties(paragraphs, fileOffset).copy(stream, propertiesAt * BLOCK);
  return makeCompoundFile({ WordDocument: stream, "1Table": table });
}

/**
 * Makes a file as Word 95 saved it, in windows-1251. `body` and `notes` hold that program's own marks; with
 * `fast`, the two halves of the body are stored in reverse order.
 */
export function makeWord95({
  body,
  notes = "",
  fast = false,
}: {
  body: string;
  notes?: string;
  fast?: boolean;
}): Buffer {
  const bytes = windows1251(body + notes);
  const half = Math.floor(bytes.length / 2);
  const parts = fast ? [bytes.subarray(half), bytes.subarray(0, half)] : [bytes];
  const stream = Buffer.concat([Buffer.alloc(TEXT_AT), ...parts, Buffer.alloc(BLOCK)]);
  stream.writeUInt16LE(0xa5dc, 0x00);
  stream.writeUInt16LE(fast ? 0x0004 : 0, 0x0a);
  for (const [at, value] of [
    [0x18, TEXT_AT],
    [0x1c, TEXT_AT + bytes.length],
    [0x34, body.length],
    [0x160, TEXT_AT + bytes.length],
  ] as const)
    stream.writeUInt32LE(value, at);
  const table = Buffer.concat([
    Buffer.from([0x02]),
    number(28),
    ...[0, half, bytes.length].map(number),
    piece(TEXT_AT + bytes.length - half),
    piece(TEXT_AT),
  ]);
  table.copy(stream, TEXT_AT + bytes.length);
  return makeCompoundFile({ WordDocument: stream });
}

function windows1251(text: string): Buffer {
  const letters = new TextDecoder("windows-1251").decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return Buffer.from(Array.from(text, (letter) => letters.indexOf(letter)));
}

/** Makes a presentation that PowerPoint 95 can open too. */
export function makeDualPpt(newer: Buffer): Buffer {
  const stream = CFB.find(CFB.read(newer, { type: "buffer" }), "/PowerPoint Document")!.content as Buffer;
  return makeCompoundFile({
    "PowerPoint Document": Buffer.from([3, 0, 0, 0, 0xff, 0xff, 0, 0]),
    "PP97_DUALSTORAGE/PowerPoint Document": Buffer.from(stream),
  });
}

const piece = (offset: number): Buffer => Buffer.concat([Buffer.alloc(2), number(offset), Buffer.alloc(2)]);

interface WordParagraph {
  readonly text: string;
  /** 0 is body text, 1 to 9 are headings of that level. */
  readonly style: number | "row end";
}

function styled(part: string): WordParagraph {
  const level = /^#*/.exec(part)![0].length;
  return { text: `${part.slice(level).trimStart()}\r`, style: level };
}

/**
 * A page of paragraph properties, [MS-DOC] 2.9.24 (PapxFkp): where each paragraph starts, its style, and
 * whether it ends a row.
 */
function paragraphProperties(
  paragraphs: readonly WordParagraph[],
  fileOffset: (position: number) => number,
): Buffer {
  const page = Buffer.alloc(BLOCK);
  const rowEndAt = BLOCK - 2 - ROW_END.length - 2;
  page[rowEndAt + 1] = ROW_END.length / 2;
  ROW_END.copy(page, rowEndAt + 2);
  const styleAt = (style: number): number => rowEndAt - 4 * (style + 1);
  for (let style = 0; style <= 9; style += 1) page.set([0, 1, style, 0], styleAt(style));
  let position = 0;
  for (const [index, { text: content, style }] of paragraphs.entries()) {
    page.writeUInt32LE(fileOffset(position), index * 4);
    page[(paragraphs.length + 1) * 4 + index * 13] = (style === "row end" ? rowEndAt : styleAt(style)) / 2;
    position += content.length;
  }
  page.writeUInt32LE(fileOffset(position), paragraphs.length * 4);
  page[BLOCK - 1] = paragraphs.length;
  return page;
}
