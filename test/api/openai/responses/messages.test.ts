/** Items become messages that every provider takes. */
import { expect, it } from "vitest";
import { type ItemReaders, readItems } from "../../../../src/api/openai/responses/input.ts";
import { messagesOf } from "../../../../src/api/openai/responses/messages.ts";

const READERS: ItemReaders = {
  fileData: async () => "text of the file",
  fileId: async () => ({ filename: "b.md", text: "text" }),
  reference: async () => {
    throw new Error("nothing is referred to");
  },
};
const call = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" });
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: `of ${id}` });

it("puts each output behind the message that has its call, and answers for those that are missing", async () => {
  const items = await readItems(
    [{ role: "user", content: "Do" }, call("a"), call("b"), output("b"), call("c"), output("a")],
    [],
    READERS,
  );
  expect(messagesOf(items)).toMatchObject([
    { role: "user", content: "Do" },
    { role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] },
    { role: "tool", tool_call_id: "a", content: "of a" },
    { role: "tool", tool_call_id: "b", content: "of b" },
    { role: "assistant", tool_calls: [{ id: "c" }] },
    { role: "tool", tool_call_id: "c", content: "(no output was given)" },
  ]);
});

it("passes over what a model thought, and refuses what it does not know", async () => {
  expect(messagesOf(await readItems([{ type: "reasoning", summary: [] }], [], READERS))).toEqual([]);
  await expect(readItems([{ type: "dance" }], [], READERS)).rejects.toMatchObject({ param: "input[0].type" });
});

it("gives a file as text that says which file it is", async () => {
  const part = { type: "input_file", filename: "a.md", file_data: "YQ==" };
  const items = await readItems([{ role: "user", content: [part] }], [], READERS);
  expect(messagesOf(items)).toEqual([{ role: "user", content: 'File "a.md":\ntext of the file' }]);
  expect(JSON.stringify(items)).not.toContain("YQ==");
});
