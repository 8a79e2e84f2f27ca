/** The API's address of an embedded start, kept for commands in other shells with other settings. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readAnnouncedAddress } from "./announced-address.ts";

export async function announceApi(dataDir: string, url: string): Promise<void> {
  await writeFile(addressFile(dataDir), `${url}\n`);
}

/** The address of the running or the last start on this folder; undefined if there was none. */
export async function announcedApi(dataDir: string): Promise<string | undefined> {
  return readAnnouncedAddress(addressFile(dataDir));
}

function addressFile(dataDir: string): string {
  return join(dataDir, "api-address");
}
