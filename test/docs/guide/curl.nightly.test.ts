/**
 * Runs what the guide's pages and the README do in a shell, against a Holdfast with the models and the issuer
 * of `npm start`.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { issuerUrl, startIssuer } from "../../../src/embedded/servers/issuer-part.ts";
import type { Running } from "../../../src/embedded/processes/launch.ts";
import { freePort } from "../../../src/embedded/ports.ts";
import { call } from "../../support/clients/client.ts";
import { blocksOf, PAGES, type Snippet, snippetsOf } from "../../support/docs/guide-pages.ts";
import { type Place, runSnippets } from "../../support/docs/run-snippets.ts";
import { differences } from "../../support/docs/shown-output.ts";
import { type Stack, startStack } from "../../support/stack/stack.ts";
import { AGENTS, KEYS } from "../../support/tenants/tenants.ts";
import { until } from "../../support/until.ts";

const PAGE_MS = 130_000;
/** It has the set-up of all others. */
const WITHOUT_SET_UP = ["quick-start"];

let stack: Stack;
let issuer: Running;
let place: Place;

beforeAll(async () => {
  const port = await freePort();
  stack = await startStack({
    localModels: true,
    env: { OIDC_ISSUER: issuerUrl(port), OIDC_AUDIENCE: "holdfast", RATE_LIMIT_RPM: "600" },
  });
  issuer = await startIssuer({ env: stack.env, dataDir: stack.dataDir, port }, () => undefined);
  await writeFile(join(stack.dataDir, "demo-key"), KEYS.owner);
  place = {
    instead: { "http://127.0.0.1:8080": stack.url, ".data/": `${stack.dataDir}/` },
    env: { ...stack.env, PATH: process.env["PATH"], HOME: process.env["HOME"] },
  };
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

const setUp = snippetsOf("quick-start", "sh").filter(({ heading }) => heading === "Set up");
/** A page of the manual whose calls a key may not make. */
const WEBHOOKS = "../webhooks";
const pages = [...PAGES, WEBHOOKS].flatMap((page) => {
  if (page === "recipes") return [];
  const snippets = snippetsOf(page, "sh");
  return snippets.length === 0 ? [] : [{ page, snippets }];
});

test.each(pages)("$page", { timeout: PAGE_MS }, async ({ page, snippets }) => {
  const all = WITHOUT_SET_UP.includes(page) ? snippets : [...setUp, ...snippets];
  const printed = await runSnippets(all, place);
  expect(all.flatMap((snippet, at) => differences(snippet, printed[at] ?? ""))).toEqual([]);
});

test("the first conversation of the README gets an answer", { timeout: PAGE_MS }, async () => {
  const readme = await readFile(join(import.meta.dirname, "../../../README.md"), "utf8");
  const section = readme.split("\n## A first conversation\n")[1]!.split("\n## ")[0]!;
  const code = section
    .split("\n")
    .filter((line) => line.startsWith("    "))
    .map((line) => line.slice(4))
    .join("\n");
  const block = blocksOf("README", `\`\`\`sh\n${code}\n\`\`\``)[0]!;
  const snippet: Snippet = { ...block, language: "sh", outputs: [] };
  const [printed] = await runSnippets([snippet], place);
  expect(printed).toContain('"file_type":"PDF"');
  expect(printed).toContain("data: [DONE]");
});
