import { expect, test } from "vitest";
import { createFrameParser } from "../../clients/typescript/src/events/server-sent-events.ts";

const TEXT =
  ': ping\n\nid: c1\ndata: {"id":1}\n\nid: c2\r\n\r\nevent: end\ndata:one\ndata: two\n\nretry: 5\n\nid: c3\ndata: cut';
const FRAMES = [
  { id: "c1", event: "message", data: '{"id":1}' },
  { id: "c2", event: "message", data: undefined },
  { id: undefined, event: "end", data: "one\ntwo" },
];

test("frames are the same however the text is cut, and a cut frame is none", () => {
  for (let size = 1; size <= TEXT.length; size += 1) {
    const parse = createFrameParser();
    const frames = [];
    for (let at = 0; at < TEXT.length; at += size) frames.push(...parse(TEXT.slice(at, at + size)));
    expect(frames).toEqual(FRAMES);
  }
});

test("a frame without an end is refused before it fills the memory", () => {
  const long = "x".repeat(300_000);
  const oneLine = createFrameParser();
  const manyLines = createFrameParser();
  expect(() => {
    for (let piece = 0; piece < 8; piece += 1) oneLine(long);
  }).toThrow(RangeError);
  expect(() => {
    for (let piece = 0; piece < 8; piece += 1) manyLines(`data: ${long}\n`);
  }).toThrow(RangeError);
});
