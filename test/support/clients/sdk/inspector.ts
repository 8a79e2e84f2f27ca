/** Runs the command line of the MCP inspector. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const PACKAGE = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const PROGRAM = join(dirname(PACKAGE), "clients/launcher/build/index.js");
const RUN_MS = 60_000;
const run = promisify(execFile);

/** What it asks of Node. */
const NEEDS = [22, 19] as const;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isOld = major < NEEDS[0] || (major === NEEDS[0] && minor < NEEDS[1]);

/** Why this machine cannot run it; undefined if it can. */
export const missingNode = isOld ? `needs Node ${NEEDS.join(".")} or newer` : undefined;

interface Server {
  readonly url: string;
  readonly key: string;
}

/**
 * @param args such as `--method tools/list`.
 * @returns what it printed, which is JSON. @throws Error with what it printed if it failed.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- a test looks into whatever came
export async function inspect({ url, key }: Server, ...args: readonly string[]): Promise<any> {
  // It writes a catalog of servers into the home folder.
  const home = await mkdtemp(join(tmpdir(), "holdfast-inspector-"));
  try {
    // The command is that of docs/clients.md: npx @modelcontextprotocol/inspector --cli.
    const server = [url, "--transport", "http", "--header", `Authorization: Bearer ${key}`];
    const command = [PROGRAM, "--cli", ...server, ...args];
    const env = { PATH: process.env["PATH"], HOME: home };
    const { stdout } = await run(process.execPath, command, { env, timeout: RUN_MS });
    return JSON.parse(stdout);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
