/** Runs every command of the tour, and the first conversation of the README, against a running Holdfast. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { issuerUrl, startIssuer } from "../../src/embedded/servers/issuer-part.ts";
import type { Running } from "../../src/embedded/processes/launch.ts";
import { freePort } from "../../src/embedded/ports.ts";
import { call } from "../support/clients/client.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { AGENTS, KEYS } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";

const ROOT = join(import.meta.dirname, "../..");
const SCRIPT_MS = 120_000;

let stack: Stack;
let issuer: Running;

beforeAll(async () => {
  const port = await freePort();
  stack = await startStack({ env: { OIDC_ISSUER: issuerUrl(port), OIDC_AUDIENCE: "holdfast" } });
  issuer = await startIssuer({ env: stack.env, dataDir: stack.dataDir, port }, () => undefined);
  await writeFile(join(stack.dataDir, "demo-key"), KEYS.owner);
  const ready = { model: AGENTS.analyst, messages: [{ role: "user", content: "Hello" }] };
  await until(
    "chat is ready",
    async () => (await call(stack.url, KEYS.owner, "POST", "/chat/completions", ready)).status === 200,
  );
});
afterAll(async () => {
  await issuer.stop();
  await stack.close();
});

/** The code blocks of a document, or of what follows one of its headings, as one script. */
async function commandsOf(path: string, heading?: string): Promise<string> {
  const document = await readFile(join(ROOT, path), "utf8");
  const text = heading === undefined ? document : document.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;
  const lines = text.split("\n").filter((line) => line.startsWith("    "));
  return lines.map((line) => line.slice(4)).join("\n");
}

/** Runs the commands against this test's stack. @throws Error with the last output, if one of them fails. */
async function run(commands: string): Promise<string> {
  const script = commands
    .replaceAll("http://127.0.0.1:8080", stack.url)
    .replaceAll(".data/", `${stack.dataDir}/`);
  const strict = 'set -euo pipefail\ncurl() { command curl --fail-with-body "$@" && echo; }\n';
  const env = { ...stack.env, PATH: process.env["PATH"], HOME: process.env["HOME"] };
  const { stdout } = await promisify(execFile)("bash", ["-c", strict + script], {
    cwd: ROOT,
    env,
    timeout: SCRIPT_MS,
  }).catch((error: { message: string; stdout: string }) => {
    throw new Error(`${error.message}\n${error.stdout.slice(-1_000)}`);
  });
  return stdout;
}

test("every command of the tour answers without an error", { timeout: SCRIPT_MS + 10_000 }, async () => {
  const commands = await commandsOf("docs/tour.md");
  expect(commands.match(/^(?:\w+=\$\()?curl /gm)?.length).toBeGreaterThan(40);
  const printed = await run(commands);
  expect(printed).toContain('"total_results":');
  expect(printed).toContain("data: [DONE]");
  expect(printed).toContain('"auth_method":"jwt"');
});

test("the first conversation of the README gets an answer", { timeout: SCRIPT_MS + 10_000 }, async () => {
  const printed = await run(await commandsOf("README.md", "A first conversation"));
  expect(printed).toContain('"file_type":"PDF"');
  expect(printed).toContain("data: [DONE]");
});
