/** Reads an address that an embedded start has written into its data folder for commands in other shells. */
import { readFile } from "node:fs/promises";

/** Undefined if the file is missing or empty. */
export async function readAnnouncedAddress(file: string): Promise<string | undefined> {
  const text = (await readFile(file, "utf8").catch(() => "")).trim();
  return text === "" ? undefined : text;
}
