/** Reads the text of files that come with a request, in the parsers' sandbox. */
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Database } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import { type OpenedContent, openedDocument } from "../../domain/tenancy/opened-content.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { detectFileKind } from "../../parsers/file-kind.ts";
import type { ParserPool } from "../../parsers/process/child-process.ts";
import { openTemporaryFolder } from "../../process/temporary-folder.ts";
import { findFile } from "../../queries/user-files/find-file.ts";
import { decodeId, idFault } from "../../schema/openai/ids.ts";
import type { Storage } from "../../storage/storage.ts";
import { refuse } from "./input.ts";

export interface FileReader {
  /**
   * The text of a file.
   * @param data base64, or a `data:` URL of it.
   * @throws DomainError `bad_request` for what cannot be read.
   */
  textOf(ask: FileAsk, data: string, filename: string): Promise<string>;
  /**
   * The text of a file that is stored.
   * @throws DomainError `bad_request` for what cannot be read, or the caller has not.
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
}

export interface StoredText {
  readonly filename: string;
  readonly text: string;
  /** What it is the text of. */
  readonly content: OpenedContent;
}

interface FileParts {
  readonly db: Database;
  readonly storage: Storage;
  readonly dataDir: string;
}

interface Workshop {
  readonly folder: string;
  readonly pool: ParserPool;
}

/** A request waits for it. */
const TIMEOUT_MS = 30_000;
const MEBIBYTE = 1_024 * 1_024;
/** Of the text of one file: about 500,000 tokens, several times the usual context of a model. */
const MAX_CHARACTERS = 2 * MEBIBYTE;
const MAX_STORED_BYTES = 32 * MEBIBYTE;

/** Starts no process before the first file. */
export function createFileReader(parts: FileParts): FileReader {
  let opened: Promise<Workshop> | undefined;
  const workshop = (): Promise<Workshop> => {
    opened ??= openWorkshop(parts.dataDir).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const textOf = async (ask: FileAsk, bytes: Buffer, filename: string) =>
    parsed(await workshop(), ask, bytes, filename);
  return {
    textOf: (ask, data, filename) => textOf(ask, bytesOf(data, ask.param), filename),
    async textOfStored(ask, fileId) {
      const { name, bytes, content } = await storedBytes(parts, ask, fileId);
      return { filename: name, text: await textOf(ask, bytes, name), content };
    },
    async close() {
      const workshopOpened = await opened;
      await workshopOpened?.pool.close();
      if (workshopOpened !== undefined) await rm(workshopOpened.folder, { recursive: true, force: true });
    },
  };
}

async function parsed(
  { folder, pool }: Workshop,
  { principal: { organization, user }, param, signal }: FileAsk,
  bytes: Buffer,
  filename: string,
): Promise<string> {
  const { fileType } = await detectFileKind(bytes, filename);
  const path = join(folder, `${randomUUID()}.${fileType.toLowerCase()}`);
  try {
    await writeFile(path, bytes, { mode: 0o600 });
    const owner = { organizationId: organization.id, userId: user.id };
    const { units } = await pool.parse({ fileType, path, name: filename }, { owner, signal });
    const text = units.map((unit) => unit.text).join("\n\n");
    if (text.length > MAX_CHARACTERS) throw refuse(param, "The text of the file is too long.");
    return text;
  } catch (error) {
    throw asRefusal(error, param);
  } finally {
    await rm(path, { force: true });
  }
}

async function storedBytes(
  { db, storage }: FileParts,
  { principal, param, signal }: FileAsk,
  fileId: string,
): Promise<{ readonly name: string; readonly bytes: Buffer; readonly content: OpenedContent }> {
  const id = decodeId("file", fileId);
  if (id === null) throw refuse(param, `The id of a file ${idFault("file")}.`);
  const found = await findFile(db, principal, id).catch(orUndefined);
  if (found === undefined) throw refuse(param, "There is no such file.");
  const isOwn = "file" in found;
  const { name, size, object_key: object } = isOwn ? found.file : found.document;
  if (size > MAX_STORED_BYTES)
    throw refuse(param, `A file of a request has at most ${MAX_STORED_BYTES} bytes; put it into a store.`);
  signal.throwIfAborted();
  const stored = await storage.get({ organizationId: principal.organization.id, name: object });
  const content: OpenedContent = isOwn
    ? { type: "user_file", id, spaceId: null }
    : openedDocument(found.document);
  return { name, bytes: await buffer(stored), content };
}

function orUndefined(error: unknown): undefined {
  if (error instanceof DomainError && error.code === "not_found") return undefined;
  throw error;
}

/** Loads the code of the sandbox too, which a process that reads no file does without. */
async function openWorkshop(dataDir: string): Promise<Workshop> {
  const { createParserPool } = await import("../../parsers/process/child-process.ts");
  const folder = await openTemporaryFolder(dataDir);
  return { folder, pool: createParserPool({ size: 1, spares: 1, timeoutMs: TIMEOUT_MS, folder }) };
}

function bytesOf(data: string, param: string): Buffer {
  const text = data.startsWith("data:") ? data.slice(data.indexOf(",") + 1) : data;
  if (text === "" || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text.replaceAll(/\s/g, "")))
    throw refuse(param, "The file is no base64.");
  return Buffer.from(text, "base64");
}

/** What is wrong with the file is the request's fault: the code of a parser is said in its message. */
function asRefusal(error: unknown, param: string): unknown {
  if (!(error instanceof DomainError) || error.class !== "hopeless" || error.param !== undefined)
    return error;
  return new DomainError("bad_request", `The file cannot be read (${error.code}): ${error.message}`, {
    param,
  });
}
