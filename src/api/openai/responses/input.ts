/** Reads the items of a request: what the model is shown of them, and what is kept of them. */
import { DomainError } from "../../../domain/errors.ts";
import { newId } from "../../../domain/ids.ts";
import { type OutputItem, itemId } from "./items.ts";

type Given = Readonly<Record<string, unknown>>;

/** An item as it is kept and listed. */
interface InputItem extends Given {
  readonly id: string;
  readonly type: string;
}

/** What came before: input and output of stored responses, oldest first. */
export type KeptItem = InputItem | OutputItem;

export interface ItemReaders {
  readonly fileData: (data: string, filename: string, param: string) => Promise<string>;
  /** The text of a file of the caller. */
  readonly fileId: (
    fileId: string,
    param: string,
  ) => Promise<{ readonly filename: string; readonly text: string }>;
  /** The item of a stored response of the caller; undefined if there is none that it may read. */
  readonly reference: (id: string, param: string) => Promise<KeptItem | undefined>;
}

export function refuse(param: string, message: string): DomainError {
  return new DomainError("bad_request", message, { param });
}

/** Each is parsed while the request waits. */
const MAX_FILES = 10;
/** Items of stored responses: each may be of another response, which has to be read and decrypted. */
const MAX_REFERENCES = 100;
const CALLS = new Set(["function_call", "function_call_output"]);
/** Items of tools that are not here, and what a model thought: passed over. */
const PASSED_OVER = new Set([
  "reasoning",
  "web_search_call",
  "computer_call",
  "computer_call_output",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_list_tools",
  "mcp_call",
  "mcp_approval_request",
  "mcp_approval_response",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "local_shell_call_output",
  "compaction",
]);

/** Whether no model is shown items of the type. */
export const isPassedOver = (type: string): boolean => PASSED_OVER.has(type);

/**
 * The items of a request as they are kept: with ids, and with references resolved.
 * @param before the items of the responses before it, in which calls may be answered.
 * @throws DomainError `bad_request` with `param` for what cannot be used.
 */
export async function readItems(
  input: string | readonly Given[],
  before: readonly KeptItem[],
  readers: ItemReaders,
): Promise<KeptItem[]> {
  if (typeof input === "string") return [messageItem("user", [{ type: "input_text", text: input }])];
  const calls = new Set(before.flatMap((item) => (item.type === "function_call" ? [item["call_id"]] : [])));
  requireFew(input);
  const items: KeptItem[] = [];
  const taken = new Set<string>();
  for (const [index, given] of input.entries()) {
    const item = await readItem(given, `input[${index}]`, readers);
    if (item.type === "function_call") calls.add(item["call_id"]);
    if (item.type === "function_call_output" && !calls.has(item["call_id"]))
      throw refuse(
        `input[${index}].call_id`,
        "No tool call found for this function call output: the conversation has no such call.",
      );
    items.push(withOwnId(item, taken));
  }
  return items;
}

/** Ids of what may be items of stored responses, which the request refers to or gives back. */
export function referredIds(input: string | readonly Given[]): string[] {
  if (typeof input === "string") return [];
  return input.flatMap((given) => {
    const { id } = given;
    return REFERRING.has(typeOf(given)) && typeof id === "string" ? [id] : [];
  });
}

const REFERRING = new Set(["item_reference", "file_search_call"]);

/** Before any of it is read, which costs far more than to send it. */
function requireFew(input: readonly Given[]): void {
  if (input.flatMap(filesOf).length > MAX_FILES)
    throw refuse("input", `A request has at most ${MAX_FILES} files.`);
  if (referredIds(input).length > MAX_REFERENCES)
    throw refuse("input", `A request refers to at most ${MAX_REFERENCES} items of stored responses.`);
}

/** Those that are read: items that are passed over may have anything in these fields. */
function filesOf(given: Given): unknown[] {
  const field = PARTS_OF.get(typeOf(given));
  const parts = field === undefined ? undefined : given[field];
  return Array.isArray(parts) ? parts.filter(isFile) : [];
}

/** The fields in which items have parts. */
const PARTS_OF: ReadonlyMap<string, string> = new Map([
  ["message", "content"],
  ["function_call_output", "output"],
]);

const isFile = (part: unknown): boolean => isObject(part) && part["type"] === "input_file";

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ["message", "msg"],
  ["function_call", "fc"],
  ["function_call_output", "fco"],
  ["file_search_call", "fs"],
]);

/** Lists are paged by ids: an id that came before in the request is replaced. */
function withOwnId(item: KeptItem, taken: Set<string>): KeptItem {
  const id = taken.has(item.id) ? itemId(PREFIXES.get(item.type) ?? "item", newId()) : item.id;
  taken.add(id);
  return id === item.id ? item : { ...item, id };
}

function typeOf(given: Given): string {
  return textOr(given["type"], given["role"] === undefined ? "item_reference" : "message");
}

async function readItem(given: Given, at: string, readers: ItemReaders): Promise<KeptItem> {
  const type = typeOf(given);
  if (type === "message") return readMessage(given, at, readers);
  if (type === "item_reference") return readReference(given, at, readers);
  if (CALLS.has(type)) return readCall(given, type, at, readers);
  if (type === "file_search_call") return readSearch(given, at, readers);
  if (PASSED_OVER.has(type)) return { ...given, id: idOf(given, "item"), type };
  throw refuse(`${at}.type`, `Items of the type '${type.slice(0, 64)}' are not supported.`);
}

/** An item of a stored response, as clients send it that do not repeat what is stored. */
async function readReference(given: Given, at: string, readers: ItemReaders): Promise<KeptItem> {
  const id = textField(given, "id", at);
  const kept = await readers.reference(id, `${at}.id`);
  if (kept === undefined) throw refuse(`${at}.id`, `Item with id '${id.slice(0, 64)}' not found.`);
  return kept;
}

/** With what it has found, if it is an item of a stored response; clients send it without. */
async function readSearch(given: Given, at: string, readers: ItemReaders): Promise<KeptItem> {
  const { id } = given;
  const kept = typeof id === "string" ? await readers.reference(id, `${at}.id`) : undefined;
  if (kept?.type === "file_search_call") return kept;
  return { ...given, id: idOf(given, "fs"), type: "file_search_call", results: null };
}

async function readMessage(given: Given, at: string, readers: ItemReaders): Promise<InputItem> {
  const role = given["role"];
  if (role !== "user" && role !== "assistant" && role !== "system" && role !== "developer")
    throw refuse(`${at}.role`, "The role is one of user, assistant, system and developer.");
  const { content } = given;
  if (typeof content === "string")
    return messageItem(
      role,
      [{ type: role === "assistant" ? "output_text" : "input_text", text: content }],
      given,
    );
  if (!Array.isArray(content)) throw refuse(`${at}.content`, "The content is a text or a list of parts.");
  return messageItem(role, await readParts(content, `${at}.content`, readers), given);
}

async function readParts(
  parts: readonly unknown[],
  at: string,
  readers: ItemReaders,
): Promise<readonly Given[]> {
  const read: Given[] = [];
  for (const [index, part] of parts.entries())
    read.push(await readPart(asObject(part, `${at}[${index}]`), `${at}[${index}]`, readers));
  return read;
}

async function readPart(part: Given, at: string, readers: ItemReaders): Promise<Given> {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
      return { ...part, text: textField(part, "text", at) };
    case "refusal":
      return { ...part, refusal: textField(part, "refusal", at) };
    case "input_image":
      return readImage(part, at);
    case "input_file":
      return readFile(part, at, readers);
    default:
      throw refuse(
        `${at}.type`,
        `Content of the type '${textOr(part["type"], "").slice(0, 64)}' is not supported.`,
      );
  }
}

function readImage(part: Given, at: string): Given {
  if (part["file_id"] !== undefined && part["file_id"] !== null)
    throw refuse(`${at}.file_id`, "Send the picture as `image_url`.");
  return { ...part, image_url: textField(part, "image_url", at) };
}

/** The file with its text, so that a later response goes on from what the model has read. */
async function readFile(part: Given, at: string, readers: ItemReaders): Promise<Given> {
  const { file_url: url, file_id: id, file_data: data, filename, ...rest } = part;
  if (url !== undefined && url !== null)
    throw refuse(`${at}.file_url`, "Files are not fetched from addresses: send `file_data`.");
  const name = typeof filename === "string" ? filename.slice(0, 255) : "file";
  if (typeof id === "string") return { ...rest, file_id: id, ...(await readers.fileId(id, `${at}.file_id`)) };
  if (typeof data !== "string") throw refuse(`${at}.file_data`, "A file has `file_data` or `file_id`.");
  return { ...rest, filename: name, text: await readers.fileData(data, name, `${at}.file_data`) };
}

async function readCall(given: Given, type: string, at: string, readers: ItemReaders): Promise<InputItem> {
  const callId = textField(given, "call_id", at);
  if (type === "function_call")
    return {
      id: idOf(given, "fc"),
      type,
      call_id: callId,
      name: textField(given, "name", at),
      arguments: textField(given, "arguments", at),
      status: "completed",
    };
  const { output } = given;
  const kept = Array.isArray(output)
    ? await readParts(output, `${at}.output`, readers)
    : textField(given, "output", at);
  return { id: idOf(given, "fco"), type, call_id: callId, output: kept, status: "completed" };
}

function messageItem(role: string, content: readonly Given[], given: Given = {}): InputItem {
  return { id: idOf(given, "msg"), type: "message", role, content, status: "completed" };
}

function idOf(given: Given, prefix: string): string {
  const { id } = given;
  return typeof id === "string" && id.length <= 128 && id !== "" ? id : itemId(prefix, newId());
}

function textField(given: Given, name: string, at: string): string {
  const value = given[name];
  if (typeof value !== "string") throw refuse(`${at}.${name}`, `\`${name}\` has to be a text.`);
  return value;
}

const textOr = (value: unknown, other: string): string => (typeof value === "string" ? value : other);

function asObject(value: unknown, at: string): Given {
  if (!isObject(value)) throw refuse(at, "A part of the content is an object.");
  return value;
}

export function isObject(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The item as it is shown to whoever lists the input: the text of a file is not repeated. */
export function listedItem(item: KeptItem): KeptItem {
  const field = PARTS_OF.get(item.type);
  const parts = field === undefined ? undefined : (item as Given)[field];
  if (field === undefined || !Array.isArray(parts)) return item;
  return { ...item, [field]: (parts as readonly Given[]).map(listedPart) };
}

function listedPart(part: Given): Given {
  if (part["type"] !== "input_file") return part;
  const { text: _text, ...shown } = part;
  return shown;
}
