/**
 * Reads compound files, the container of old Office documents and Outlook messages.
 *
 * @see [MS-CFB]
 */

import { CFB } from "@e965/xlsx";
import { DomainError } from "../../domain/errors.ts";

interface CompoundEntry {
  readonly content?: Uint8Array | readonly number[];
  readonly size: number;
}

export interface CompoundFile {
  /** Paths of its streams, without the name of the root. */
  readonly paths: readonly string[];
  /** Undefined if there is no such stream. */
  stream(path: string): Buffer | undefined;
}

/** Throws `corrupt` if the bytes are no compound file. */
export function openCompoundFile(bytes: Buffer): CompoundFile {
  const { FullPaths, FileIndex } = readContainer(bytes);
  const entries = new Map<string, CompoundEntry>();
  FullPaths.forEach((path, index) => {
    const entry = FileIndex[index];
    const inside = path.slice(path.indexOf("/") + 1);
    if (entry !== undefined && inside !== "" && !inside.endsWith("/")) entries.set(inside, entry);
  });
  return {
    paths: [...entries.keys()],
    stream(path) {
      const entry = entries.get(path);
      return entry === undefined ? undefined : Buffer.from(entry.content ?? []).subarray(0, entry.size);
    },
  };
}

function readContainer(bytes: Buffer): { FullPaths: string[]; FileIndex: CompoundEntry[] } {
  try {
    return (
      CFB as { read(bytes: Buffer, options: object): { FullPaths: string[]; FileIndex: CompoundEntry[] } }
    ).read(bytes, { type: "buffer" });
  } catch (error) {
    throw new DomainError("corrupt", "The file is not a readable document.", { cause: error });
  }
}
