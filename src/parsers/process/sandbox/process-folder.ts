/** The folder of one parser process: places a document so that only this process can read it. */

import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import {
  chmod,
  chown,
  copyFile,
  constants,
  link,
  lstat,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { DomainError } from "../../../domain/errors.ts";
import { asUnwritable, ensureFolder } from "../../../process/temporary-folder.ts";
import { mayNeedOcr, type OcrSettings, type ParseInput } from "../../parser.ts";
import type { ProcessFolders } from "./node-permissions.ts";

export interface ProcessFolder extends ProcessFolders {
  /**
   * The input for the process: its bytes if it is small, else a file in the folder, which is removed when
   * this is disposed of.
   * @throws DomainError `internal` if there is no such file, `storage_unavailable` if it cannot be written.
   */
  place(input: ParseInput): Promise<{ readonly input: ParseInput } & AsyncDisposable>;
  /** Whether it is still there: whatever cleans up temporary files may have removed it. */
  exists(): boolean;
  /** To be called after the process has ended. */
  remove(): Promise<void>;
}

/** Larger documents become a file; for smaller ones a message costs less than making and removing it. */
const MAX_INLINE_BYTES = 256 * 1024;

const ROOT = 0;

interface Folders extends ProcessFolders {
  readonly inputs: string;
  readonly ocrData: string;
  /** User and group of the process that reads it; undefined if they are those of this process. */
  readonly userId: number | undefined;
}

/**
 * The folder belongs to this process. The other user may read it, and write only to the scratch folder: root
 * must not work in a folder to which another user writes.
 *
 * @param userId User and group of the process that reads the folder, if it is not this process's user; this
 * process is root then.
 */
export function makeProcessFolder(parent: string, userId: number | undefined): ProcessFolder {
  const folders = makeFolders(parent, userId);
  let givenOcr: Promise<OcrSettings> | undefined;
  /** Tesseract's data stays for the lifetime of the process. */
  const giveOcrOnce = async (ocr: OcrSettings): Promise<OcrSettings> => {
    givenOcr ??= giveOcr(folders, ocr);
    return givenOcr.catch((error: unknown) => {
      givenOcr = undefined;
      throw error;
    });
  };
  const placed: ProcessFolder["place"] = async (input) => {
    const ocr = input.ocr && mayNeedOcr(input.fileType) ? await giveOcrOnce(input.ocr) : undefined;
    const bytes = await smallBytes(input);
    if (bytes !== undefined)
      return {
        input: { ...input, ocr, bytes, path: undefined },
        [Symbol.asyncDispose]: async () => undefined,
      };
    const path = await placeFile(folders, input);
    return {
      input: { ...input, ocr, bytes: undefined, path },
      [Symbol.asyncDispose]: () => rm(path, { force: true }),
    };
  };
  return {
    folder: folders.folder,
    scratch: folders.scratch,
    place: (input) =>
      placed(input).catch((error: unknown) => {
        throw notPlaced(error);
      }),
    exists: () => existsSync(folders.inputs) && existsSync(folders.scratch),
    remove: () => rm(folders.folder, { recursive: true, force: true }),
  };
}

/** The document is missing, or cannot be written to the process's folder. */
function notPlaced(error: unknown): DomainError {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  const reason = isMissing ? error : asUnwritable(error);
  if (reason instanceof DomainError) return reason;
  return new DomainError("internal", "The file could not be read.", { cause: error });
}

function makeFolders(parent: string, userId: number | undefined): Folders {
  ensureFolder(parent);
  const folder = realpathSync(mkdtempSync(join(parent, "parser-")));
  const inputs = join(folder, "input");
  const ocrData = join(folder, "tessdata");
  const scratch = join(folder, "scratch");
  for (const path of [inputs, ocrData, scratch]) mkdirSync(path, { mode: 0o700 });
  if (userId !== undefined) {
    for (const path of [folder, inputs, ocrData]) {
      chownSync(path, ROOT, userId);
      chmodSync(path, 0o750);
    }
    chownSync(scratch, userId, userId);
  }
  return { folder, inputs, ocrData, scratch, userId };
}

/** Copies the data of the languages, which may be in a folder that the other user cannot read. */
async function giveOcr(folders: Folders, { languages, dataFolder }: OcrSettings): Promise<OcrSettings> {
  const names = languages.split("+").map((language) => `${language}.traineddata`);
  await Promise.all(
    names.map((name) => give(join(dataFolder, name), join(folders.ocrData, name), folders.userId)),
  );
  return { languages, dataFolder: folders.ocrData };
}

/** Places the input as a file and returns its path; leaves no file if that fails. */
async function placeFile({ inputs, userId }: Folders, input: ParseInput): Promise<string> {
  // Parsers of native code tell formats by the name.
  const path = join(inputs, `document.${input.fileType.toLowerCase()}`);
  try {
    if (input.bytes === undefined) await give(input.path ?? "", path, userId);
    else {
      await writeFile(path, input.bytes, { mode: 0o600 });
      await letRead(path, userId);
    }
    return path;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function give(from: string, to: string, userId: number | undefined): Promise<void> {
  // A link costs nothing, but has the owner and group of its target.
  if (userId === undefined && (await linked(from, to))) return;
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await letRead(to, userId);
}

async function letRead(path: string, userId: number | undefined): Promise<void> {
  if (userId === undefined) return;
  await chown(path, ROOT, userId);
  await chmod(path, 0o440);
}

async function smallBytes({ bytes, path = "" }: ParseInput): Promise<Uint8Array | undefined> {
  const size = bytes === undefined ? (await stat(path)).size : bytes.length;
  if (size > MAX_INLINE_BYTES) return undefined;
  return bytes ?? readFile(path);
}

/** Links the file; false for another file system, a file of another user, and a symbolic link. */
async function linked(from: string, to: string): Promise<boolean> {
  if (!(await lstat(from)).isFile()) return false;
  return link(from, to).then(
    () => true,
    () => false,
  );
}
