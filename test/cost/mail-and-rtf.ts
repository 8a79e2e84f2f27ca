/** Shapes that the markup of mail messages and of RTF can have. */
import { nested, numbered, repeated, type Shape } from "./shape.ts";

const multipartBoundaries: Shape = {
  name: "parts in parts",
  make(length) {
    const depth = Math.max(1, Math.floor(length / 80));
    return Array.from(
      { length: depth },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
    ).join("");
  },
};

export const MAIL_MARKUP: readonly Shape[] = [
  repeated("--b\r\n\r\na\r\n"),
  repeated("--b\r\n"),
  repeated("--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: a\r\n\r\n"),
  repeated("--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nYWFh\r\n"),
  repeated("--b\r\nContent-Type: text/html\r\n\r\n<p>a</p>\r\n"),
  multipartBoundaries,
];

export const HEADER_SHAPES: readonly Shape[] = [
  numbered("headers", (index) => `X-${index}: a\r\n`),
  repeated("To: a@b.example\r\n"),
  repeated(" a\r\n", "X-Folded: a\r\n"),
  repeated("a@b.example, ", "To: "),
  repeated("(", "To: "),
  repeated('"', "To: "),
  repeated("<", "To: "),
  repeated(":", "To: a"),
  repeated("a:b;", "To: "),
  repeated("=?utf-8?q?a?= ", "X: "),
  repeated("=?utf-8?b?YQ==?=", "Subject: "),
  numbered("parameters", (index) => `; name*${index}*=a`, "Content-Type: text/plain"),
];

export const RTF_MARKUP: readonly Shape[] = [
  nested("{", "}"),
  nested("{\\b ", "}"),
  nested("{\\*\\x ", "}"),
  repeated("{\\b a}"),
  repeated("{"),
  repeated("}"),
  repeated("\\par a"),
  repeated("\\'e9"),
  repeated("\\u8364?"),
  repeated("\\uc100\\u8364?"),
  repeated("\\trowd\\cell a\\row "),
  repeated("\\cell a", "\\trowd\\intbl ", "\\row "),
  repeated("{\\f1\\fcharset204 a;}", "{\\fonttbl", "}"),
  repeated("{\\s1 a;}", "{\\stylesheet", "}"),
  repeated("{\\footnote a}"),
  repeated("{\\pntext a}"),
  repeated("\\bin9 a"),
  repeated("\\f1 a\\f2 "),
  repeated("ffd8", "{\\pict ", "}"),
];
