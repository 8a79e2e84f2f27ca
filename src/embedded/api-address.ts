/**
 * The address of the API of an embedded start, kept for commands, which run in other shells with other
 * settings.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export async function announceApi(dataDir: string, url: string): Promise<void> {
  await writeFile(addressFile(dataDir), `${url}\n`);
}

/** The address of the running or the last start on this folder; undefined if there was none. */
export async function announcedApi(dataDir: string): Promise<string | undefined> {
  const text = (await readFile(addressFile(dataDir), "utf8").catch(() => "")).trim();
  return text === "" ? undefined : text;
}

function addressFile(dataDir: string): string {
  return join(dataDir, "api-address");
}
