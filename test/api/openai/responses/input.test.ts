/** What a request may bring in is counted before it is read, and read once. */
import { expect, it } from "vitest";
import type { FileReader } from "../../../../src/api/openai/responses/files.ts";
import { type ItemReaders, listedItem, readItems } from "../../../../src/api/openai/responses/input.ts";
import { InputReading } from "../../../../src/api/openai/responses/reading.ts";

const MEBIBYTE = 1_024 * 1_024;

function countingReaders() {
  const read: string[] = [];
  const readers: ItemReaders = {
    async fileData(_data, filename) {
      read.push(filename);
      return "text";
    },
    async fileId(id) {
      read.push(id);
      return { filename: "b.md", text: "text" };
    },
    async reference(id) {
      read.push(id);
      return { id, type: "message", role: "user", content: [] };
    },
  };
  return { read, readers };
}

const file = { type: "input_file", file_id: "file-1" };
const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const output = (parts: unknown) => ({ type: "function_call_output", call_id: "c", output: parts });

it.each([
  ["in the content of a message", [{ role: "user", content: times(11, file) }]],
  ["in the output of a function", [call, output(times(11, file))]],
  ["over the whole input", [{ role: "user", content: times(6, file) }, call, output(times(5, file))]],
])("refuses eleven files %s and reads none", async (_, input) => {
  const { read, readers } = countingReaders();
  await expect(readItems(input, [], readers)).rejects.toMatchObject({ code: "bad_request", param: "input" });
  expect(read).toEqual([]);
});

it("refuses 101 items of stored responses and reads none; 100 are read", async () => {
  const { read, readers } = countingReaders();
  const reference = { type: "item_reference", id: "msg_1" };
  const search = { type: "file_search_call", id: "fs_1", queries: [] };
  await expect(readItems([...times(60, reference), ...times(41, search)], [], readers)).rejects.toMatchObject(
    {
      code: "bad_request",
      param: "input",
    },
  );
  expect(read).toEqual([]);
  expect(await readItems([...times(60, reference), ...times(40, search)], [], readers)).toHaveLength(100);
});

it("counts no files in items that are passed over, whatever they have in these fields", async () => {
  const { readers } = countingReaders();
  const items = [
    { type: "reasoning", content: [null, ...times(20, file)] },
    { type: "computer_call_output", output: [null, 1] },
    { type: "constructor" },
  ];
  expect(await readItems(items.slice(0, 2), [], readers)).toHaveLength(2);
  await expect(readItems(items, [], readers)).rejects.toMatchObject({ param: "input[2].type" });
});

it("gives an id that came before a new one, so that a list of the items has each once", async () => {
  const { readers } = countingReaders();
  const same = { role: "user", content: "Hi", id: "same" };
  const items = await readItems(
    [same, same, { type: "item_reference", id: "msg_1" }, { type: "item_reference", id: "msg_1" }],
    [],
    readers,
  );
  expect(items.map(({ id }) => id)).toEqual([
    "same",
    expect.stringMatching(/^msg_[0-9a-f]{32}$/),
    "msg_1",
    expect.stringMatching(/^msg_[0-9a-f]{32}$/),
  ]);
});

it("lists files without their text, in outputs too", async () => {
  const { readers } = countingReaders();
  const items = await readItems([{ role: "user", content: [file] }, call, output([file])], [], readers);
  expect(items).toMatchObject([{ content: [{ text: "text" }] }, {}, { output: [{ text: "text" }] }]);
  expect(items.map(listedItem)).toMatchObject([{ content: [file] }, call, { output: [file] }]);
  expect(JSON.stringify(items.map(listedItem))).not.toContain('"text"');
});

function fileReading(characters: number, signal = new AbortController().signal) {
  const read: string[] = [];
  const opened: string[] = [];
  const of = async (name: string) => {
    read.push(name);
    return "x".repeat(characters);
  };
  const files: FileReader = {
    parsedText: (_ask, _data, filename) => of(filename),
    textOfStored: async (_ask, id) => ({
      filename: "b.md",
      text: await of(id),
      content: { type: "document", id: `of ${id}`, spaceId: "its space" },
    }),
    close: async () => undefined,
  };
  const reading = new InputReading(
    { files, deps: { contextTokens: 1_000 } as never, store: {} as never },
    {
      principal: {} as never,
      signal,
      lookUp: async () => ({}) as never,
      referredIds: [],
      characters: 0,
      opened: ({ id }) => void opened.push(id),
    },
  );
  return { read, reading, opened };
}

it("reads a file once, however often it is named, and notes its document", async () => {
  const { read, reading, opened } = fileReading(10);
  await readItems([{ role: "user", content: times(10, file) }], [], reading);
  expect(read).toEqual(["file-1"]);
  expect(opened).toEqual(["of file-1"]);
  expect([...reading.documentIds]).toEqual(["of file-1"]);
});

it("bounds the characters of all files together, each as often as it is named", async () => {
  const two = [{ role: "user", content: [file, file] }];
  expect(await readItems(two, [], fileReading(MEBIBYTE).reading)).toHaveLength(1);
  await expect(readItems(two, [], fileReading(MEBIBYTE + 1).reading)).rejects.toMatchObject({
    code: "bad_request",
    param: "input[0].content[1].file_id",
  });
  const data = { type: "input_file", filename: "a.md", file_data: "YQ==" };
  await expect(
    readItems([call, output([file, data, data])], [], fileReading(MEBIBYTE).reading),
  ).rejects.toMatchObject({ param: "input[1].output[2].file_data" });
});

it("reads no further file of a client that has left", async () => {
  const leaving = new AbortController();
  const { read, reading } = fileReading(1, leaving.signal);
  const files = ["file-1", "file-2"].map((id) => ({ type: "input_file", file_id: id }));
  const items = readItems([{ role: "user", content: files }], [], reading);
  leaving.abort();
  await expect(items).rejects.toMatchObject({ name: "AbortError" });
  expect(read).toEqual(["file-1"]);
});
