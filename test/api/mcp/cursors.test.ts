/** Cursors of lists, and addresses of documents: what is not one is refused. */
import { expect, test } from "vitest";
import { nextCursor, placeOf } from "../../../src/api/mcp/cursors.ts";
import { addressOf, documentUri } from "../../../src/api/mcp/uris.ts";

const SPACE = "01900000-0000-7000-8000-000000000010";
const DOCUMENT = "01900000-0000-7000-8000-000000000030";

test("a cursor names the next page of its own list, and the last page has none", () => {
  const cursor = nextCursor("documents", { page: 1, limit: 10, total: 11 });

  expect(placeOf("documents", cursor)).toBe(2);
  expect(placeOf("documents", undefined)).toBe(1);
  expect(nextCursor("documents", { page: 2, limit: 10, total: 11 })).toBeUndefined();
  expect(() => placeOf("spaces", cursor)).toThrow("Invalid cursor");
});

test.each(["", "x", "=", "a".repeat(500), Buffer.from("documents:-1").toString("base64url")])(
  "%s is no cursor",
  (text) => {
    expect(() => placeOf("documents", text)).toThrow("Invalid cursor");
  },
);

test("an address names a document in a space, and perhaps a place in its text", () => {
  const address = { spaceId: SPACE, documentId: DOCUMENT };

  expect(addressOf(documentUri(address))).toEqual({ ...address, cursor: undefined });
  expect(addressOf(documentUri({ ...address, cursor: "abc" }))).toEqual({ ...address, cursor: "abc" });
});

test.each([
  "file:///etc/passwd",
  `holdfast://spaces/${SPACE}`,
  `holdfast://spaces/${SPACE}/documents/../../x`,
  `holdfast://spaces/${SPACE}/documents/${DOCUMENT}/more`,
  `holdfast://spaces/${SPACE}/documents/${DOCUMENT}?cursor=`,
  `https://spaces/${SPACE}/documents/${DOCUMENT}`,
])("%s is no address of a document", (uri) => {
  expect(addressOf(uri)).toBeUndefined();
});
