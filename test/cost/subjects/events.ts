/** Cursors, types and addresses of receivers, as subjects of the cost test. */
import { checkedTarget } from "../../../src/commands/webhooks/target.ts";
import { parseRetryAfter } from "../../../src/domain/retry-after.ts";
import { isAllowedHost } from "../../../src/outbound/hosts.ts";
import { refusalOfTarget } from "../../../src/outbound/webhook-target.ts";
import { cursorOf, positionIn } from "../../../src/queries/events/cursor.ts";
import { EventFilterQuery } from "../../../src/schema/event.ts";
import { named, numbered, repeat, repeated, type Shape } from "../shape.ts";
import { PLAIN_SHAPES } from "../shapes.ts";
import type { Subject } from "./subject.ts";

/** A request's line and headers have at most 16 KiB. */
const IN_A_HEAD = 16_384;

/** Decoding skips what is not of its alphabet, so a cursor with much between its characters is one too. */
const CURSORS: readonly Shape[] = [
  ...PLAIN_SHAPES,
  repeated(cursorOf(1, 1)),
  repeated("=", cursorOf(1, 1)),
  repeated("."),
  named("digits that are encoded", (length) =>
    Buffer.from(`1:1:${repeat("9", length)}`).toString("base64url"),
  ),
  named("colons that are encoded", (length) => Buffer.from(`1${repeat(":", length)}`).toString("base64url")),
];

const TYPES: readonly Shape[] = [
  repeated("document.completed,", "", "document.completed"),
  repeated(","),
  repeated("."),
  numbered("types that do not exist", (index) => `document.t${index},`, "", "x"),
];

const URLS: readonly Shape[] = [
  repeated("a.", "https://", "example/"),
  repeated("a", "https://", ".example/"),
  repeated("-", "https://", ".example/"),
  repeated("é", "https://", ".example/"),
  repeated("xn--", "https://", ".example/"),
  repeated("%2e", "https://", "/"),
  repeated("0", "https://", ".1/"),
  repeated(":", "https://[", "]/"),
  repeated("a:", "https://", "@receiver.example/"),
  repeated("@", "https://", "/"),
  repeated("../", "https://receiver.example/"),
  repeated("/", "https:"),
  repeated("&a=b", "https://receiver.example/?"),
  repeated("#", "https://receiver.example/"),
  repeated(" ", "https://receiver.example/", "x"),
  repeated("\\", "https:", "receiver.example"),
];
const RETRY_AFTERS: readonly Shape[] = [
  ...PLAIN_SHAPES,
  repeated("9"),
  repeated("0", "", ".1"),
  repeated(" ", "1", "x"),
  repeated(" ", "Wed, 21 Oct 2026", " 07:28:00 GMT"),
  repeated("(", "Wed, 21 Oct 2026 "),
  repeated("(a)", "Wed, 21 Oct 2026 "),
  repeated("-", "1"),
  repeated("Wed, "),
];
/** As many patterns as an operator is likely to name. */
const PATTERNS = Array.from({ length: 50 }, (_, index) => `*.host${index}.example`);

export const eventSubjects = (): Subject[] => [
  { name: "a cursor", shapes: CURSORS, maxLength: IN_A_HEAD, run: (text) => positionIn(text as string, 1) },
  {
    name: "types of events",
    shapes: TYPES,
    maxLength: IN_A_HEAD,
    prepare: (text) => text.split(","),
    run: (types) => EventFilterQuery.safeParse({ types }).success,
  },
  {
    name: "the address of a webhook, as it is checked",
    shapes: URLS,
    // Its callers answer with the reason.
    endsInItsOwnProcess: true,
    run: (text) => checkedTarget(text as string, PATTERNS),
  },
  {
    name: "the address of a webhook, as it is delivered to",
    shapes: URLS,
    run: (text) => (URL.canParse(text as string) ? refusalOfTarget(new URL(text as string), PATTERNS) : null),
  },
  {
    name: "when a receiver or a provider says to come back",
    shapes: RETRY_AFTERS,
    maxLength: IN_A_HEAD,
    run: (text) => parseRetryAfter(text as string),
  },
  {
    name: "a host against those that are allowed",
    shapes: PLAIN_SHAPES,
    run: (text) => isAllowedHost(text as string, PATTERNS),
  },
];
