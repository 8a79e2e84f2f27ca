/** Ids as OpenAI's clients know them: a prefix for the kind, and the UUID's 32 hex digits. */
import { z } from "zod";
import { isUuid } from "../../domain/ids.ts";

const ID_PREFIXES = {
  file: "file-",
  vectorStore: "vs_",
  fileBatch: "vsfb_",
  response: "resp_",
  message: "msg_",
} as const;

export type PrefixedKind = keyof typeof ID_PREFIXES;

/** @example encodeId("vectorStore", folder.id) // "vs_01900000000070008000000000000040" */
export function encodeId(kind: PrefixedKind, uuid: string): string {
  return ID_PREFIXES[kind] + uuid.replaceAll("-", "");
}

/** @returns the UUID, in lower case; null for what is no id of this kind. */
export function decodeId(kind: PrefixedKind, id: string): string | null {
  const prefix = ID_PREFIXES[kind];
  if (!id.startsWith(prefix) || !/^[0-9a-fA-F]{32}$/.test(id.slice(prefix.length))) return null;
  const uuid = id
    .slice(prefix.length)
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return isUuid(uuid) ? uuid : null;
}

/** What is wrong with an id for which {@link decodeId} gives null. */
export const idFault = (kind: PrefixedKind): string =>
  `must be \`${ID_PREFIXES[kind]}\` and 32 hexadecimal digits`;

/** The UUID of an id with one of the prefixes; any other text as it is. */
export function plainId(id: string): string {
  const kinds = Object.keys(ID_PREFIXES) as PrefixedKind[];
  return kinds.map((kind) => decodeId(kind, id)).find((uuid) => uuid !== null) ?? id;
}

/** An id in a request, checked to have the UUID. A wrong form is 404 on a path, else a field's problem. */
function idInput(kind: PrefixedKind, description: string, uuid: string) {
  return z
    .string()
    .max(64)
    .transform((text, context) => {
      const decoded = decodeId(kind, text);
      if (decoded === null) context.issues.push({ code: "custom", input: text, message: idFault(kind) });
      return decoded ?? z.NEVER;
    })
    .meta({
      description,
      pattern: `^${ID_PREFIXES[kind]}[0-9a-fA-F]{32}$`,
      example: encodeId(kind, uuid),
    });
}

/** An id in an answer: takes the UUID. */
function idOutput(kind: PrefixedKind, description: string, uuid: string) {
  return z
    .string()
    .transform((id) => encodeId(kind, id))
    .pipe(z.string())
    .meta({ description, example: encodeId(kind, uuid) });
}

const EXAMPLES = {
  file: "01900000-0000-7000-8000-000000000033",
  vectorStore: "01900000-0000-7000-8000-000000000040",
  fileBatch: "01900000-0000-7000-8000-000000000061",
  response: "01900000-0000-7000-8000-000000000025",
  message: "01900000-0000-7000-8000-000000000026",
} as const satisfies Record<PrefixedKind, string>;

const DESCRIPTIONS = {
  file: "The file: one that was uploaded to `/v1/files`, or a document",
  vectorStore: "The vector store: a folder",
  fileBatch: "The batch of files that were put into a vector store together",
  response: "The response",
  message: "The message, an item of a response",
} as const satisfies Record<PrefixedKind, string>;

const input = (kind: PrefixedKind) => idInput(kind, DESCRIPTIONS[kind], EXAMPLES[kind]);
const output = (kind: PrefixedKind) => idOutput(kind, DESCRIPTIONS[kind], EXAMPLES[kind]);

/** For requests: gives the UUID. */
export const FileIdInput = input("file");
export const VectorStoreIdInput = input("vectorStore");
export const FileBatchIdInput = input("fileBatch");
export const ResponseIdInput = input("response");

/** For answers: takes the UUID. */
export const FileIdOutput = output("file");
export const VectorStoreIdOutput = output("vectorStore");
export const FileBatchIdOutput = output("fileBatch");
