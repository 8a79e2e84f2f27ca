/** What runs the guide's snippets fails if one fails, or prints something else than its page shows. */
import { expect, test } from "vitest";
import { blocksOf, type Snippet } from "../../support/docs/guide-pages.ts";
import { runSnippets } from "../../support/docs/run-snippets.ts";
import { differences } from "../../support/docs/shown-output.ts";

const place = {
  instead: { "http://127.0.0.1:8080": "http://there" },
  env: { PATH: process.env["PATH"] },
};
const [first, second] = blocksOf(
  "page",
  "```sh\nNAME=one\n```\n```sh\necho $NAME http://127.0.0.1:8080\n```",
);
const shell = (code: string, output = "", language = "text"): Snippet => {
  const outputs = output === "" ? [] : blocksOf("page", `\`\`\`${language}\n${output}\n\`\`\``);
  return { ...first!, language: "sh", code, outputs };
};

test("later snippets have the variables of earlier ones, and the place's own address", async () => {
  const snippets = [first!, second!].map(({ code }) => shell(code));
  expect(await runSnippets(snippets, place)).toEqual(["", "one http://there\n"]);
});

test("a snippet that fails is named with the end of its output", async () => {
  const failing = runSnippets([shell("true"), { ...shell("echo broken; false"), line: 7 }], place);
  await expect(failing).rejects.toThrow(/page\.md:7 ended with 1:[^]*broken/);
});

test("text that is shown has to be printed, where numbers may be others and … is anything", () => {
  const snippet = shell("", "took 3 s\nid: …");
  expect(differences(snippet, "took 17.5 s\nid: a1b2\n")).toEqual([]);
  expect(differences(snippet, "took long\nid: a1b2\n")).toHaveLength(1);
});

test("JSON that is shown has to be answered with the same types, and codes as they are", () => {
  const snippet = shell("", '{"error": {"code": "invalid", "param": null}, "items": [1]}', "json");
  const answer = { error: { code: "invalid", param: null, more: 1 }, items: [7, 8] };
  expect(differences(snippet, JSON.stringify(answer))).toEqual([]);
  const other = { error: { code: "not_found", param: null }, items: ["7"] };
  expect(differences(snippet, JSON.stringify(other))).toHaveLength(2);
  expect(differences(snippet, "")).toHaveLength(1);
});

test("a call that the page says is refused has to be refused with that status", () => {
  const snippet: Snippet = { ...shell(""), answers: 404 };
  expect(differences(snippet, "@status 404")).toEqual([]);
  expect(differences(snippet, "@status 200")).toHaveLength(1);
});
