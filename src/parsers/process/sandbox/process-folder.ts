/** The folder of one parser process: the only place that puts a document where that process, and no other, can read it. */

import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
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
import { mayNeedOcr, type OcrSettings, type ParseInput } from "../../parser.ts";
import type { ProcessFolders } from "./node-permissions.ts";

export interface ProcessFolder extends ProcessFolders {
  /**
   * The input as the process gets it: the bytes of small ones, the rest as a file of the folder, which goes when this is disposed of.
   * Throws what the file system throws.
   */
  place(input: ParseInput): Promise<{ readonly input: ParseInput } & AsyncDisposable>;
  /** After the process has ended. */
  remove(): Promise<void>;
}

/** Larger documents go to the process as a file; up to here a message costs less than making, owning and removing one. */
const MAX_INLINE_BYTES = 256 * 1024;

const ROOT = 0;

/**
 * The folder is this process's own. Another user may read it and writes in the scratch folder alone: a folder that somebody else writes
 * to is no place for root to work in.
 *
 * @param userId User and group of the process that reads it, if it is not the user of this one; this one is root then.
 */
export function makeProcessFolder(parent: string, userId: number | undefined): ProcessFolder {
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

  const letRead = async (path: string): Promise<void> => {
    if (userId === undefined) return;
    await chown(path, ROOT, userId);
    await chmod(path, 0o440);
  };
  const give = async (from: string, to: string): Promise<void> => {
    // A link costs nothing, but it has the owner and the group of what it is a link to.
    if (userId === undefined && (await linked(from, to))) return;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await letRead(to);
  };
  let givenOcr: Promise<unknown> | undefined;
  /** Tesseract's data stays for as long as the process does: it may lie where another user cannot reach it. */
  const giveOcr = async ({ languages, dataFolder }: OcrSettings): Promise<OcrSettings> => {
    givenOcr ??= Promise.all(
      languages
        .split("+")
        .map((language) =>
          give(join(dataFolder, `${language}.traineddata`), join(ocrData, `${language}.traineddata`)),
        ),
    );
    await givenOcr.catch((error: unknown) => {
      givenOcr = undefined;
      throw error;
    });
    return { languages, dataFolder: ocrData };
  };

  return {
    folder,
    scratch,
    async place(input) {
      const ocr = input.ocr && mayNeedOcr(input.fileType) ? await giveOcr(input.ocr) : undefined;
      const bytes = await smallBytes(input);
      if (bytes !== undefined)
        return {
          input: { ...input, ocr, bytes, path: undefined },
          [Symbol.asyncDispose]: async () => undefined,
        };
      // Parsers of native code tell formats by the name.
      const path = join(inputs, `document.${input.fileType.toLowerCase()}`);
      const dispose = (): Promise<void> => rm(path, { force: true });
      try {
        if (input.bytes === undefined) await give(input.path ?? "", path);
        else {
          await writeFile(path, input.bytes, { mode: 0o600 });
          await letRead(path);
        }
      } catch (error) {
        await dispose();
        throw error;
      }
      return { input: { ...input, ocr, bytes: undefined, path }, [Symbol.asyncDispose]: dispose };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function smallBytes({ bytes, path = "" }: ParseInput): Promise<Uint8Array | undefined> {
  const size = bytes === undefined ? (await stat(path)).size : bytes.length;
  if (size > MAX_INLINE_BYTES) return undefined;
  return bytes ?? readFile(path);
}

/** Whether it could be linked: not onto another file system, nor what belongs to somebody else, nor what is a link itself. */
async function linked(from: string, to: string): Promise<boolean> {
  if (!(await lstat(from)).isFile()) return false;
  return link(from, to).then(
    () => true,
    () => false,
  );
}
