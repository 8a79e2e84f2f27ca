/** What the body of a batch of files is told that has too much, too little, or the wrong. */
import { expect, test } from "vitest";
import { FileBatchCreate } from "../../../src/schema/openai/store-files.ts";
import { problemsOf } from "../../support/clients/problems.ts";

const id = `file-${"0".repeat(31)}1`;

test.each([
  [
    "both lists",
    { file_ids: [id], files: [{ file_id: id }] },
    ["files"],
    "only one of `file_ids` and `files`",
  ],
  ["neither list", { files: null }, ["file_ids"], "one of `file_ids` and `files` must be given"],
  ["a file without its id", { files: [{}] }, ["files", 0, "file_id"], "Field required"],
  [
    "an id that is none",
    { files: [{ file_id: "file-abc" }] },
    ["files", 0, "file_id"],
    "32 hexadecimal digits",
  ],
  ["an empty list", { file_ids: [] }, ["file_ids"], "List should have at least 1 item"],
])("%s", (_, body, path, words) => {
  expect(problemsOf(FileBatchCreate, body)).toMatchObject([
    { loc: ["body", ...path], msg: expect.stringContaining(words) },
  ]);
});

test.each([
  { file_ids: [id] },
  { file_ids: [id], files: null },
  { files: [{ file_id: id }], file_ids: null },
])("%j is taken", (body) => {
  expect(problemsOf(FileBatchCreate, body)).toEqual([]);
});
