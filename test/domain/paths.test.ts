import { describe, expect, test } from "vitest";
import {
  addressFault,
  folderOf,
  joinPath,
  MAX_PATH_BYTES,
  fileNameOf,
  objectNameOf,
  pathFault,
  pathOf,
  pathPrefixOf,
  readAddress,
} from "../../src/domain/paths.ts";
import { RawFileAddress, RawFileRename, UploadFolderPath } from "../../src/schema/documents/raw-file.ts";

const SPACE = "01900000-0000-7000-8000-000000000010";
const DOCUMENT = "01900000-0000-7000-8000-000000000030";

describe("what may be a path", () => {
  test.each(["a", "a/b.md", "ünï/日本語.md", "…/..a/b..", "a b/c'd\"e", "%2e%2e/x", "~/x", "-", "👩‍👩‍👧.txt"])(
    "%s may",
    (path) => {
      expect(pathFault(path)).toBeNull();
    },
  );

  test.each([
    "",
    "/a",
    "a//b",
    "a/",
    "..",
    "../a",
    "a/../b",
    "a/..",
    ".",
    "a/./b",
    "a\\b",
    "..\\a",
    "a\nb",
    "a\u0000b",
    "a\u007f",
    "a\u0085b",
  ])("%j may not", (path) => {
    expect(pathFault(path)).toEqual(expect.any(String));
  });

  test("a path is bounded in bytes, not characters, and so is each of its parts", () => {
    const parts = (count: number, tail: string) =>
      [...Array.from({ length: count }, () => "p".repeat(203)), tail].join("/");
    expect(pathFault(parts(5, "abcd"))).toBeNull();
    expect(new TextEncoder().encode(parts(5, "abcd"))).toHaveLength(MAX_PATH_BYTES);
    expect(pathFault(parts(5, "abcde"))).toMatch(/1024 bytes/);
    expect(pathFault(parts(5, "äbc"))).toBeNull();
    expect(pathFault(parts(5, "äbcd"))).toMatch(/1024 bytes/);
    expect(pathFault("n".repeat(255))).toBeNull();
    expect(pathFault("n".repeat(256))).toMatch(/255 bytes/);
    expect(pathFault("ä".repeat(128))).toMatch(/255 bytes/);
  });

  test("an object name may be longer than a path by its own beginning", () => {
    const path = Array.from({ length: 8 }, () => "p".repeat(127)).join("/");
    expect(addressFault(`spaces/${SPACE}/data/${path}`)).toBeNull();
    expect(addressFault(`spaces/${SPACE}/data/${path}pp`)).toMatch(/1024 bytes/);
    expect(addressFault(`spaces/${SPACE}/data/../x`)).toEqual(expect.any(String));
  });
});

describe("what a request may say", () => {
  test("a folder is the root where it is empty, and loses one slash at its end", () => {
    expect([UploadFolderPath.parse(""), UploadFolderPath.parse("/"), UploadFolderPath.parse("a/b/")]).toEqual(
      ["", "", "a/b"],
    );
    expect(UploadFolderPath.safeParse("a//").success).toBe(false);
  });

  test("paths that look the same are the same", () => {
    expect(RawFileAddress.parse({ path: "e\u0301.md" })).toEqual({ path: "\u00e9.md" });
  });

  test("a rename is of a file or of all below a prefix, not of one into the other", () => {
    expect(RawFileRename.safeParse({ old_path: "a/", new_path: "b/" }).success).toBe(true);
    expect(RawFileRename.safeParse({ old_path: "a/", new_path: "b" }).success).toBe(false);
    expect(RawFileRename.safeParse({ old_path: "a", new_path: "b/" }).success).toBe(false);
    expect(RawFileRename.safeParse({ old_path: "/", new_path: "b/" }).success).toBe(false);
  });
});

describe("object names", () => {
  const own = `documents/${DOCUMENT}/original/a.md`;

  test("a document's own place keeps the form that the document names", () => {
    expect(objectNameOf(SPACE, own, DOCUMENT)).toBe(`spaces/${SPACE}/${own}`);
    for (const path of ["reports/a.md", "documents/a.md"])
      expect(objectNameOf(SPACE, path, DOCUMENT)).toBe(`spaces/${SPACE}/data/${path}`);
  });

  test.each([SPACE, null])("another document's place does not lend it to a file of %s", (documentId) => {
    const name = objectNameOf(SPACE, own, documentId);
    expect(name).toBe(`spaces/${SPACE}/data/${own}`);
    expect(readAddress(SPACE, name)).toMatchObject({ path: own, document: null });
  });

  test("each of them leads back to the path, and to nothing in another space", () => {
    const named = { path: "reports/a.md", document: null };
    expect(readAddress(SPACE, "reports/a.md")).toMatchObject(named);
    expect(readAddress(SPACE, `spaces/${SPACE}/data/reports/a.md`)).toMatchObject(named);
    expect(readAddress(SPACE, `spaces/${SPACE}/${own}`)).toMatchObject({
      path: own,
      document: { id: DOCUMENT, name: "a.md" },
    });
    expect(readAddress(SPACE, `spaces/${SPACE}/data/${own}`)).toMatchObject({ path: own, document: null });
    const foreign = `spaces/${DOCUMENT}/data/reports/a.md`;
    expect(readAddress(SPACE, foreign)).toMatchObject({ path: foreign, document: null });
  });

  test.each([
    "reports/a.md",
    own,
    `spaces/${SPACE}/data/a.md`,
    `spaces/${SPACE}/${own}`,
    `spaces/${SPACE}/a.md`,
  ])("a file at %s has one object name, which means no other file", (path) => {
    for (const documentId of [DOCUMENT, null])
      expect(pathOf(SPACE, objectNameOf(SPACE, path, documentId))).toBe(path);
  });

  test("every beginning of an object name, from the space's id on, begins its path", () => {
    for (const [path, documentId] of [
      [own, DOCUMENT],
      [own, null],
      ["reports/a.md", DOCUMENT],
    ] as const) {
      const name = objectNameOf(SPACE, path, documentId);
      for (let end = `spaces/${SPACE}`.length; end <= name.length; end += 1)
        expect(path).toMatch(new RegExp(`^${pathPrefixOf(SPACE, name.slice(0, end))}`));
    }
  });

  test("a beginning that only looks like an object name's is that of a path", () => {
    const others = [
      "",
      "spaces/",
      "rep",
      `spaces/${SPACE}x`,
      `spaces/${SPACE}/x`,
      `spaces/${DOCUMENT}/data/`,
    ];
    expect(others.map((prefix) => pathPrefixOf(SPACE, prefix))).toEqual(others);
    expect(pathPrefixOf(SPACE, `spaces/${SPACE}/doc`)).toBe("documents/");
  });

  test("a folder is found by its object name, with and without a slash, and so is the root", () => {
    const root = `spaces/${SPACE}/data`;
    expect(["", root, `${root}/a/b`, "a/b", `spaces/${SPACE}`].map((path) => folderOf(SPACE, path))).toEqual([
      "",
      "",
      "a/b",
      "a/b",
      `spaces/${SPACE}`,
    ]);
  });

  test("paths are put together and taken apart at slashes", () => {
    expect([
      joinPath("", "a.md"),
      joinPath("x/y", "a.md"),
      fileNameOf("a.md"),
      fileNameOf("x/y/a.md"),
    ]).toEqual(["a.md", "x/y/a.md", "a.md", "a.md"]);
  });
});
