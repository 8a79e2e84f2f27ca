import { expect, test } from "vitest";
import { cursorOf, positionIn } from "../../../src/queries/events/cursor.ts";

const encoded = (text: string): string => Buffer.from(text).toString("base64url");

test.each([0, 1, 42, Number.MAX_SAFE_INTEGER])("the cursor of %d names it", (position) => {
  expect(positionIn(cursorOf(7, position), 7)).toBe(position);
});

test.each([
  ["another organization's", cursorOf(8, 42)],
  ["no base64", "…"],
  ["empty", ""],
  ["of another form", encoded("2:7:42")],
  ["negative", encoded("1:7:-1")],
  ["with a zero before", encoded("1:7:042")],
  ["a number that is not exact", encoded("1:7:9007199254740993")],
  ["padded", `${encoded("1:7:4")}=`],
  ["with characters that decoding skips", `${cursorOf(7, 42)}*`],
  ["too long", cursorOf(7, 42).repeat(20)],
])("a text is no cursor if it is %s", (_what, text) => {
  expect(positionIn(text, 7)).toBeNull();
});
