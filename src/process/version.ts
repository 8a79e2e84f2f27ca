/** The version of the service that this process runs. */
import { readFile } from "node:fs/promises";

const PACKAGE = new URL("../../package.json", import.meta.url);

/** For example `0.11.0`. */
export async function serviceVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(PACKAGE, "utf8")) as { version: string };
  return version;
}
