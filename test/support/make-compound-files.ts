/** The only place that makes compound files to parse: Outlook messages and old presentations. */

import { CFB } from "@e965/xlsx";

type Streams = Readonly<Record<string, Buffer | string>>;

/** A compound file of these streams; strings are UTF-16, as Outlook has them. */
function makeCompoundFile(streams: Streams): Buffer {
  const file = CFB.utils.cfb_new();
  for (const [path, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${path}`, typeof content === "string" ? Buffer.from(content, "utf16le") : content);
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
const container = (type: number, ...children: Buffer[]): Buffer => record(type, 0x000f, Buffer.concat(children));
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const text = (kind: number, content: string): Buffer[] => [record(0x0f9f, 0, number(kind)), record(0x0fa0, 0, Buffer.from(content, "utf16le"))];

/** Slides with a title and a body in the document's list, a shape of their own, and notes. */
export function makePpt(slides: readonly { title: string; body: string; shape: string; notes: string }[]): Buffer {
  const persist = (id: number): Buffer => record(0x03f3, 0, Buffer.concat([Buffer.alloc(12), number(id), Buffer.alloc(4)]));
  const list = container(0x0ff0, ...slides.flatMap((slide, index) => [persist(256 + index), ...text(0, slide.title), ...text(1, slide.body)]));
  const stream = Buffer.concat([
    container(0x03e8, list),
    container(0x03f0, record(0x03f1, 0, number(0)), container(0xf00d, ...text(2, "Click to edit the master"))),
    ...slides.map((slide) => container(0x03ee, container(0xf00d, ...text(4, slide.shape)))),
    ...slides.map((slide, index) => container(0x03f0, record(0x03f1, 0, number(256 + index)), container(0xf00d, ...text(2, slide.notes)))),
  ]);
  return makeCompoundFile({ "PowerPoint Document": stream });
}
