/** Reads the text of files that come with a request, in the parsers' sandbox. */
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { detectFileKind } from "../../parsers/file-kind.ts";
import type { ParserPool } from "../../parsers/process/child-process.ts";
import { openTemporaryFolder } from "../../process/temporary-folder.ts";
import { refuse } from "./input.ts";

export interface FileReader {
  /**
   * The text of a file.
   * @param data base64, or a `data:` URL of it.
   * @throws DomainError `bad_request` for what cannot be read.
   */
  textOf(principal: Principal, data: string, filename: string, param: string): Promise<string>;
  close(): Promise<void>;
}

interface Workshop {
  readonly folder: string;
  readonly pool: ParserPool;
}

/** A request waits for it. */
const TIMEOUT_MS = 30_000;
const MEBIBYTE = 1_024 * 1_024;
const MAX_CHARACTERS = 2 * MEBIBYTE;

/** Starts no process before the first file. */
export function createFileReader(dataDir: string): FileReader {
  let opened: Promise<Workshop> | undefined;
  const workshop = (): Promise<Workshop> => {
    opened ??= openWorkshop(dataDir).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    async textOf({ organization, user }, data, filename, param) {
      const bytes = bytesOf(data, param);
      const { fileType } = await detectFileKind(bytes, filename);
      const { folder, pool } = await workshop();
      const path = join(folder, `${randomUUID()}.${fileType.toLowerCase()}`);
      try {
        await writeFile(path, bytes, { mode: 0o600 });
        const owner = { organizationId: organization.id, userId: user.id };
        const { units } = await pool.parse({ fileType, path, name: filename }, { owner });
        const text = units.map((unit) => unit.text).join("\n\n");
        if (text.length > MAX_CHARACTERS) throw refuse(param, "The text of the file is too long.");
        return text;
      } catch (error) {
        throw asRefusal(error, param);
      } finally {
        await rm(path, { force: true });
      }
    },
    async close() {
      const workshopOpened = await opened;
      await workshopOpened?.pool.close();
      if (workshopOpened !== undefined) await rm(workshopOpened.folder, { recursive: true, force: true });
    },
  };
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
