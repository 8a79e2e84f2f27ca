/**
 * What stands behind the citations of an answer: quotes, and marks that are taken out for want of support.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { call, ended, upload } from "../../support/clients/client.ts";
import { operations } from "../../support/clients/contract-client.ts";
import { undeclaredIn } from "../../support/clients/declared-body.ts";
import { signedIn } from "../../support/clients/signed-in.ts";

const NOTE = `# Herons

The grey heron nests in tall trees near water. A pair raises 4 young.

It eats fish, frogs and voles.

| Bird | Weight |
| --- | --- |
| Heron | 1.5 kg |
| Egret | 0.5 kg |

苍鹭在树上筑巢。它吃鱼和青蛙。
`;
/** Ten marks, whose statements stand in the note; and what is quoted for them. */
const STATEMENTS: readonly (readonly [statement: string, quote: string])[] = [
  ["Herons nest in tall trees", "The grey heron nests in tall trees near water."],
  ["a pair raises 4 young", "A pair raises 4 young."],
  ["they eat frogs and voles", "It eats fish, frogs and voles."],
  ["the weight of a heron is 1.5 kg", "Heron | 1.5 kg"],
  ["that of an egret is 0.5 kg", "Egret | 0.5 kg"],
  ["它吃鱼和青蛙", "它吃鱼和青蛙。"],
  ["苍鹭在树上筑巢", "苍鹭在树上筑巢。"],
  ["they live near the water", "The grey heron nests in tall trees near water."],
  ["fish are eaten", "It eats fish, frogs and voles."],
  ["the young are 4", "A pair raises 4 young."],
];
const ANSWER = `🦊 ${STATEMENTS.map(([statement]) => `${statement} [1]`).join(", ")}.`;

const people = signedIn();
const { stack, tenants } = people;
let documentId: string;
let text: string;

beforeAll(async () => {
  documentId = (await upload(stack.url, tenants.keys.owner, tenants.spaces.research, NOTE, "herons.md")).id;
  await ended(stack.url, tenants.keys.owner, documentId);
  const { body } = await call(stack.url, tenants.keys.owner, "GET", `/data/${documentId}/chunks`);
  text = body.items[0].text;
});
beforeEach(() => stack.provider.reset());

const pieces = (answer: string): string[] => answer.match(/.{1,7}/gsu) ?? [];
const ask = (model: string, body: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  call(
    stack.url,
    tenants.keys.owner,
    "POST",
    "/chat/completions",
    { model, messages: [{ role: "user", content: "How does the grey heron live?" }], ...body },
    headers,
  );
const chunksOf = (stream: unknown) =>
  String(stream)
    .split("\n\n")
    .filter((event) => event.includes("data: {"))
    .map((event) => JSON.parse(/^data: (.*)$/m.exec(event)![1]!));

describe.each([false, true])("a cited answer with `stream: %s`", (stream) => {
  it.each([
    ["/v1/chat/completions", { messages: [{ role: "user", content: "How does the grey heron live?" }] }],
    ["/v1/responses", { input: "How does the grey heron live?" }],
  ])("of %s has no field that the contract does not name", async (path, question) => {
    stack.provider.reply({ pieces: pieces(ANSWER) });
    const answer = await fetch(`${stack.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenants.keys.owner}`, "content-type": "application/json" },
      body: JSON.stringify({ model: tenants.agents.analyst, ...question, stream }),
    });
    const body = await answer.text();
    expect(body).toContain('"receipt"');
    const { responses } = operations.find((one) => one.method === "POST" && one.path === path)!;
    expect(undeclaredIn(responses["200"], answer.headers.get("content-type"), body)).toEqual([]);
  });
});

describe("ten citations of an answer", () => {
  const expectQuotes = (annotations: any[]): void => {
    expect(annotations.map(({ quote }) => quote)).toEqual(STATEMENTS.map(([, quote]) => quote));
    for (const [index, annotation] of annotations.entries()) {
      expect(text.slice(annotation.quote_start, annotation.quote_end)).toBe(annotation.quote);
      expect(ANSWER.slice(annotation.url_citation.start_index, annotation.url_citation.end_index)).toBe(
        "[1]",
      );
      const sentence = ANSWER.slice(annotation.sentence_start, annotation.sentence_end);
      expect(sentence.endsWith(STATEMENTS[index]![0])).toBe(true);
      expect(annotation.support).toBe("strong");
    }
    const receipts = annotations.map(({ receipt }) => receipt);
    for (const receipt of receipts) expect(receipt).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(new Set(receipts).size).toBe(STATEMENTS.length);
  };

  it("have quotes with exact offsets in a whole answer", async () => {
    stack.provider.reply({ pieces: pieces(ANSWER) });
    const { body } = await ask(tenants.agents.analyst);
    expect(body.choices[0].message.content).toBe(ANSWER);
    expectQuotes(body.choices[0].message.annotations);
    const [citation] = body.citations;
    expect(citation).toMatchObject({ document_id: documentId, document_version: 1, support: "strong" });
    expect(citation.text.slice(citation.quote_start, citation.quote_end)).toBe(citation.quote);
    expect(body).not.toHaveProperty("removed_citations");
  });

  it("have the same quotes in a stream, in its last content chunk", async () => {
    stack.provider.reply({ pieces: pieces(ANSWER) }, { pieces: pieces(ANSWER) });
    const { body: whole } = await ask(tenants.agents.analyst);
    const { body } = await ask(tenants.agents.analyst, { stream: true });
    const [chunk] = chunksOf(body).filter(({ citations }) => citations !== undefined);
    expectQuotes(chunk.choices[0].delta.annotations);
    // Each answer has receipts of its own.
    const own = { receipt: expect.any(String), salt: expect.any(String) };
    expect(chunk.citations).toEqual(whole.citations.map((citation: object) => ({ ...citation, ...own })));
  });

  it("have the same quotes when the answer is asked for again", async () => {
    stack.provider.reply({ pieces: pieces(ANSWER) });
    const key = { "idempotency-key": randomUUID() };
    const first = await ask(tenants.agents.analyst, { stream: true }, key);
    const again = await ask(tenants.agents.analyst, { stream: true }, key);
    expect(again.body).toBe(first.body);
    const [chunk] = chunksOf(again.body).filter(({ citations }) => citations !== undefined);
    expectQuotes(chunk.choices[0].delta.annotations);
    // Behind piece 5 the offsets are still those in the whole answer.
    const rest = await ask(tenants.agents.analyst, { stream: true }, { ...key, "last-event-id": "5" });
    const [last] = chunksOf(rest.body).filter(({ citations }) => citations !== undefined);
    expect(last).toEqual(chunk);
  });
});

describe("a statement that its source does not carry", () => {
  const LIES = "They weigh 7 kg [1]. Herons nest in tall trees [1]. They hunt foxes at night [1].";

  it("has a mark with weak support", async () => {
    stack.provider.reply({ pieces: pieces(LIES) });
    const { body } = await ask(tenants.agents.analyst);
    const { content, annotations } = body.choices[0].message;
    expect(content).toBe(LIES);
    expect(annotations.map(({ support }: any) => support)).toEqual(["weak", "strong", "weak"]);
    // The citation is that of the mark with the best support.
    expect(body.citations).toMatchObject([{ support: "strong", quote: STATEMENTS[0]![1] }]);
  });

  it("loses its mark where the agent requires support, and the answer says so", async () => {
    const { status, body: strict } = await people.as("eve", "POST", "/agents", {
      name: "Strict",
      space_id: tenants.spaces.research,
      agent_type: "rag",
      require_support: true,
    });
    expect([status, strict.require_support]).toEqual([201, true]);
    const kept = "They weigh 7 kg. Herons nest in tall trees [1]. They hunt foxes at night.";
    for (const stream of [false, true]) {
      stack.provider.reply({ pieces: pieces(LIES) });
      const { body } = await ask(strict.id, { stream });
      const chunks = stream ? chunksOf(body) : [];
      const { citations, removed_citations } = stream ? chunks.find((chunk) => chunk.citations) : body;
      const content = stream
        ? chunks.map(({ choices }) => choices[0].delta.content ?? "").join("")
        : body.choices[0].message.content;
      const annotations = stream
        ? chunks.find((chunk) => chunk.citations).choices[0].delta.annotations
        : body.choices[0].message.annotations;
      expect(content).toBe(kept);
      expect(removed_citations).toBe(2);
      expect(citations).toMatchObject([{ index: 1, support: "strong" }]);
      const [{ url_citation: at }] = annotations;
      expect(kept.slice(at.start_index, at.end_index)).toBe("[1]");
    }
  });

  it("says so too if no mark is left", async () => {
    const { body: strict } = await people.as("eve", "POST", "/agents", {
      name: "Very strict",
      space_id: tenants.spaces.research,
      agent_type: "rag",
      require_support: true,
    });
    stack.provider.reply({ pieces: ["They weigh 7 kg [1]."] }, { pieces: ["Herons nest in trees [1]."] });
    const { body } = await ask(strict.id, { stream: true });
    expect(chunksOf(body).find((chunk) => chunk.citations)).toMatchObject({
      citations: [],
      removed_citations: 1,
    });
    const { body: nothingRemoved } = await ask(strict.id);
    expect(nothingRemoved.removed_citations).toBe(0);
  });
});
