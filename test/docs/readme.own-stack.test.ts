/** The commands of the README's section on trying Holdfast work as written against a running Holdfast. */
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

/** Returns the section's indented lines of code as one script. */
async function commands(): Promise<string> {
  const readme = await readFile(join(ROOT, "README.md"), "utf8");
  const section = /^## Try it\n(.*?)^## /ms.exec(readme)?.[1] ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("    "));
  return lines.map((line) => line.slice(4)).join("\n");
}

test("every command of the README answers without an error", { timeout: SCRIPT_MS + 10_000 }, async () => {
  const script = (await commands())
    .replaceAll("http://127.0.0.1:8080", stack.url)
    .replaceAll(".data/", `${stack.dataDir}/`);
  expect(script.match(/^(?:\w+=\$\()?curl /gm)?.length).toBeGreaterThan(40);
  const strict = 'set -euo pipefail\ncurl() { command curl --fail-with-body "$@" && echo; }\n';
  const env = { ...stack.env, PATH: process.env["PATH"], HOME: process.env["HOME"] };
  const { stdout } = await promisify(execFile)("bash", ["-c", strict + script], {
    cwd: ROOT,
    env,
    timeout: SCRIPT_MS,
  }).catch((error: { message: string; stdout: string }) => {
    throw new Error(`${error.message}\n${error.stdout.slice(-1_000)}`);
  });
  expect(stdout).toContain('"total_results":');
  expect(stdout).toContain("data: [DONE]");
  expect(stdout).toContain('"auth_method":"jwt"');
});
