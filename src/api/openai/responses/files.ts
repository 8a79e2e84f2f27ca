/** Reads the text of files that come with a request, in the parsers' sandbox. */
import { open } from "node:fs/promises";
import type { Database } from "../../../db/pool.ts";
import { DomainError } from "../../../domain/errors.ts";
import { type OpenedContent, openedDocument } from "../../../domain/tenancy/opened-content.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { FILE_KIND_HEAD_BYTES, detectFileKind } from "../../../parsers/file-kind.ts";
import type { FetchedInput, LateInput, ParserPool } from "../../../parsers/process/child-process.ts";
import { findFile } from "../../../queries/user-files/find-file.ts";
import { openOnce } from "../../../process/concurrency/open-once.ts";
import { decodeId, idFault } from "../../../schema/openai/ids.ts";
import { type FetchParts, fetchFile } from "../../files/fetched-file.ts";
import type { InputFileSeats } from "../../files/file-seats.ts";
import { refuse } from "./input.ts";

export interface FileReader {
  /**
   * The text of a file.
   * @param data base64, or a `data:` URL of it.
   * @throws DomainError `bad_request` for what cannot be read; `too_many_open`; `storage_unavailable` if it
   * cannot be placed; the signal's reason.
   */
  parsedText(ask: FileAsk, data: string, filename: string): Promise<string>;
  /**
   * The text of a file that is stored, as it is when its turn has come.
   * @throws DomainError as `parsedText`, and `bad_request` for what the caller has not.
   */
  textOfStored(ask: FileAsk, fileId: string): Promise<StoredText>;
  close(): Promise<void>;
}

interface FileAsk {
  readonly principal: Principal;
  /** Where the request names the file. */
  readonly param: string;
  /** Aborted if nobody waits for the text any more. */
  readonly signal: AbortSignal;
  /** The caller with the rights that it has by now. */
  readonly lookUp: () => Promise<Principal>;
}

export interface StoredText {
  readonly filename: string;
  readonly text: string;
  /** What it is the text of. */
  readonly content: OpenedContent;
}

interface FileParts extends FetchParts {
  readonly db: Database;
  readonly seats: InputFileSeats;
}

/** A request waits for it. */
const TIMEOUT_MS = 30_000;
const MEBIBYTE = 1_024 * 1_024;
/** Of the text of one file: about 500,000 tokens, several times the usual context of a model. */
const MAX_CHARACTERS = 2 * MEBIBYTE;
const MAX_STORED_BYTES = 32 * MEBIBYTE;
const SUBFOLDER = "input-files";

/** Starts no process before the first file. @see test/api/files/files-and-pages.test.ts */
export function createFileReader(parts: FileParts): FileReader {
  const { open: pool, opened } = openOnce(() => openPool(parts));
  return {
    async parsedText(ask, data, filename) {
      const base64 = base64Of(data, ask.param);
      // The request holds it while it waits, other than a file that is fetched.
      using _seat = seatOf(parts, ask, Math.max(1, Math.ceil(base64.length / MEBIBYTE)));
      return await parsed(await pool(), ask, { size: base64.length, fetch: () => decoded(base64, filename) });
    },
    async textOfStored(ask, fileId) {
      using _seat = seatOf(parts, ask, 1);
      let file = await findStored(parts, ask, fileId);
      const text = await parsed(await pool(), ask, {
        size: file.size,
        async fetch() {
          // It may have been replaced, deleted or moved out of reach while it waited for its turn.
          file = await findStored(parts, { ...ask, principal: await ask.lookUp() }, fileId);
          return fetched(parts, ask, file);
        },
      });
      return { filename: file.name, text, content: file.content };
    },
    async close() {
      await (await opened())?.close();
    },
  };
}

/** Taken before anything is looked for; waiting requests are counted too. */
function seatOf({ seats }: FileParts, { principal }: FileAsk, weight: number): Disposable {
  return { [Symbol.dispose]: seats.take(principal, "input_file", weight) };
}

async function parsed(
  pool: ParserPool,
  { principal: { organization, user }, param, signal }: FileAsk,
  file: LateInput,
): Promise<string> {
  try {
    const owner = { organizationId: organization.id, userId: user.id };
    const { units } = await pool.parse(file, { owner, signal, maxCharacters: MAX_CHARACTERS });
    const text = units.map((unit) => unit.text).join("\n\n");
    if (text.length > MAX_CHARACTERS) throw refuse(param, "The text of the file is too long.");
    return text;
  } catch (error) {
    throw asRefusal(error, param);
  }
}

async function decoded(base64: string, filename: string): Promise<FetchedInput> {
  const bytes = Buffer.from(base64, "base64");
  const { fileType } = await detectFileKind(bytes, filename);
  return { input: { fileType, bytes, name: filename }, [Symbol.asyncDispose]: async () => undefined };
}

async function fetched(parts: FileParts, ask: FileAsk, { name, object }: StoredFile): Promise<FetchedInput> {
  const placed = await fetchFile(parts, {
    organizationId: ask.principal.organization.id,
    name: object,
    subfolder: SUBFOLDER,
    signal: ask.signal,
  }).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === "not_found")
      throw refuse(ask.param, "The file was replaced or deleted while it was fetched.");
    throw error;
  });
  try {
    const { fileType } = await detectFileKind(await headOf(placed.path), name);
    return {
      input: { fileType, path: placed.path, name },
      [Symbol.asyncDispose]: () => placed[Symbol.asyncDispose](),
    };
  } catch (error) {
    await placed[Symbol.asyncDispose]();
    throw error;
  }
}

async function headOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_KIND_HEAD_BYTES), 0);
  return buffer.subarray(0, bytesRead);
}

interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly object: string;
  readonly content: OpenedContent;
}

async function findStored({ db }: FileParts, ask: FileAsk, fileId: string): Promise<StoredFile> {
  const { principal, param, signal } = ask;
  const id = decodeId("file", fileId);
  if (id === null) throw refuse(param, `The id of a file ${idFault("file")}.`);
  const found = await findFile(db, principal, id).catch(orUndefined);
  if (found === undefined) throw refuse(param, "There is no such file.");
  signal.throwIfAborted();
  const isOwn = "file" in found;
  const { name, size, object_key: object } = isOwn ? found.file : found.document;
  if (size > MAX_STORED_BYTES)
    throw refuse(param, `A file of a request has at most ${MAX_STORED_BYTES} bytes; put it into a store.`);
  const content: OpenedContent = isOwn
    ? { type: "user_file", id, spaceId: null }
    : openedDocument(found.document);
  return { name, size, object, content };
}

function orUndefined(error: unknown): undefined {
  if (error instanceof DomainError && error.code === "not_found") return undefined;
  throw error;
}

/** Loads the code of the sandbox too, which a process that reads no file does without. */
async function openPool({ temporary }: FileParts): Promise<ParserPool> {
  const { createParserPool } = await import("../../../parsers/process/child-process.ts");
  const folder = temporary.subfolder(SUBFOLDER);
  return createParserPool({ size: 1, spares: 1, timeoutMs: TIMEOUT_MS, folder });
}

/** The base64 in a text that may be a `data:` URL of it; it is decoded when its turn has come. */
function base64Of(data: string, param: string): string {
  const text = data.startsWith("data:") ? data.slice(data.indexOf(",") + 1) : data;
  if (text === "" || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text.replaceAll(/\s/g, "")))
    throw refuse(param, "The file is no base64.");
  return text;
}

/** The status of what parsers refuse. */
const UNREADABLE = 422;

/** What is wrong with the file is the request's fault: the code of a parser is said in its message. */
function asRefusal(error: unknown, param: string): unknown {
  if (!(error instanceof DomainError) || error.status !== UNREADABLE || error.param !== undefined)
    return error;
  return new DomainError("bad_request", `The file cannot be read (${error.code}): ${error.message}`, {
    param,
  });
}
