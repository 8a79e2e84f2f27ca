/** The items of a request for a response as subjects of the cost test: small parts name much that is read. */
import type { FileReader } from "../../../src/api/openai/responses/files.ts";
import { listedItem, readItems, referredIds } from "../../../src/api/openai/responses/input.ts";
import { messagesOf } from "../../../src/api/openai/responses/messages.ts";
import { InputReading } from "../../../src/api/openai/responses/reading.ts";
import { repeated } from "../shape.ts";
import type { Subject } from "./subject.ts";

/** Far more than a part that names it. */
const FILE = "text ".repeat(40_000);
const MOST_READ = 2 * 1_024 * 1_024;

const files: FileReader = {
  parsedText: async () => FILE,
  textOfStored: async () => ({
    filename: "a.md",
    text: FILE,
    content: { type: "user_file", id: "a", spaceId: null },
  }),
  close: async () => undefined,
};

function readersOf(input: readonly Given[]) {
  const parts = { files, deps: { contextTokens: 1_000 } as never, store: {} as never };
  const { signal } = new AbortController();
  const reading = new InputReading(parts, {
    principal: {} as never,
    signal,
    lookUp: async () => ({}) as never,
    referredIds: referredIds(input),
    opened: () => undefined,
    characters: 0,
  });
  return {
    fileData: reading.fileData.bind(reading),
    fileId: reading.fileId.bind(reading),
    reference: async (id: string) => ({ id, type: "message", role: "assistant", content: [] }),
  };
}

type Given = Readonly<Record<string, unknown>>;

const CALL = '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},';
const FILE_PART = '{"type":"input_file","file_id":"file-1"},';
const LAST = '{"type":"input_text","text":"Hi"}]}]';
const CONTENT = '[{"role":"user","content":[';
const OUTPUT = `[${CALL}{"type":"function_call_output","call_id":"c","output":[`;
const USER = '{"role":"user","content":"Hi"}]';

export const responseSubjects = (): Subject[] => [
  {
    name: "items of a response",
    shapes: [
      ...[CONTENT, OUTPUT].flatMap((before) =>
        [FILE_PART, '{"type":"input_text","text":"a"},', "null,", "[],"].map((part) =>
          repeated(part, before, LAST),
        ),
      ),
      repeated('{"role":"user","content":"a","id":"same"},', "[", USER),
      repeated(CALL, "[", USER),
      repeated(`${CALL}{"type":"function_call_output","call_id":"c","output":"a"},`, "[", USER),
      repeated('{"type":"item_reference","id":"msg_1"},', "[", USER),
      repeated('{"type":"file_search_call","queries":null,"results":[null]},', "[", USER),
      repeated('{"type":"reasoning","content":[null]},', "[", USER),
    ],
    prepare: (text) => JSON.parse(text) as unknown,
    async run(given) {
      const input = given as readonly Given[];
      const items = await readItems(input, [], readersOf(input));
      return { messages: messagesOf(items), items, listed: items.map(listedItem) };
    },
    faultsOf(result, text) {
      const read = JSON.stringify((result as { items: unknown }).items).length;
      return read > MOST_READ + 10 * text.length ? [`reads ${read} characters`] : [];
    },
  },
];
