import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { call, ended, upload } from "../../support/clients/client.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const NOTE = "# Herons\n\nThe grey heron nests in tall trees near water.\n\nIt eats fish, frogs and voles.\n";

const QUOTE = "The grey heron nests in tall trees near water.";
/** What stands behind a mark that cites the note for tall trees. */
const inTrees = {
  quote: QUOTE,
  quote_start: expect.any(Number),
  quote_end: expect.any(Number),
  support: "strong",
  receipt: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
  salt: expect.any(String),
};

const { stack, tenants } = onSharedStack();
let documentId: string;

beforeAll(async () => {
  documentId = (await upload(stack.url, tenants.keys.owner, tenants.spaces.research, NOTE, "herons.md")).id;
  await ended(stack.url, tenants.keys.owner, documentId);
});
beforeEach(() => stack.provider.reset());

const user = (content: string) => [{ role: "user", content }];
const chat = (model: string, body: Record<string, unknown> = {}, key = tenants.keys.owner) =>
  call(stack.url, key, "POST", "/chat/completions", {
    model,
    messages: user("Where does the grey heron nest?"),
    ...body,
  });
const requests = () =>
  stack.provider.requests.filter((request) => request.route === "chat").map((request) => request.body);

describe("an agent that searches first", () => {
  it("gets the passages as fenced data and returns exactly the sources that it cites", async () => {
    stack.provider.reply({ pieces: ["In tall", " trees [", "1", "], not in caves [7]."] });
    const { status, body } = await chat(tenants.agents.analyst);
    expect(status).toBe(200);
    expect(body.choices[0].message.content).toBe("In tall trees [1], not in caves.");
    expect(body.citations).toEqual([
      {
        index: 1,
        document_id: documentId,
        document_name: "herons.md",
        chunk_id: expect.any(String),
        chunk_index: expect.any(Number),
        page: null,
        text: expect.stringContaining("tall trees"),
        document_version: 1,
        locations: [{ heading_path: ["Herons"], lines: [3, 3] }],
        ...inTrees,
      },
    ]);
    const { quote, quote_start, quote_end, text } = body.citations[0];
    expect(text.slice(quote_start, quote_end)).toBe(quote);
    expect(body.choices[0].message.annotations).toEqual([
      {
        type: "url_citation",
        url_citation: {
          start_index: "In tall trees ".length,
          end_index: "In tall trees [1]".length,
          title: "herons.md",
          url: expect.stringContaining(`/v1/data/${documentId}/chunks?page=`),
        },
        sentence_start: 0,
        sentence_end: "In tall trees".length,
        ...inTrees,
      },
    ]);
    const { pathname, search } = new URL(body.choices[0].message.annotations[0].url_citation.url);
    const cited = await call(stack.url, tenants.keys.owner, "GET", `${pathname.replace("/v1", "")}${search}`);
    expect(cited.body.items).toMatchObject([{ id: body.citations[0].chunk_id }]);
    const system = requests()[0]!
      ["messages"].filter((message: any) => message.role === "system")
      .at(-1).content;
    expect(system).toMatch(/<<<SOURCES\n\[1\] herons\.md\n[^]*tall trees[^]*\nSOURCES>>>$/);
  });

  it("streams its citations in the last content chunk, each with its own chunk", async () => {
    stack.provider.reply({ pieces: ["In trees [1]", "."] });
    const { body } = await chat(tenants.agents.analyst, { stream: true });
    const chunks = String(body)
      .split("\n\n")
      .filter((event) => event.startsWith("data: {"))
      .map((event) => JSON.parse(event.slice(6)));
    const withContent = chunks.filter((chunk) => chunk.choices[0]?.delta.content !== undefined);
    const [citation] = withContent.at(-1).citations;
    expect(citation).toMatchObject({ index: 1, document_id: documentId });
    expect(withContent.at(-1).choices[0].delta.annotations).toMatchObject([
      { type: "url_citation", url_citation: { start_index: 9, end_index: 12, title: "herons.md" } },
    ]);
    const { body: listed } = await call(stack.url, tenants.keys.owner, "GET", `/data/${documentId}/chunks`);
    expect(listed.items.find((chunk: any) => chunk.id === citation.chunk_id)).toMatchObject({
      chunk_index: citation.chunk_index,
      text: citation.text,
    });
    expect(withContent.slice(0, -1).every((chunk) => chunk.citations === undefined)).toBe(true);
    expect(withContent.map((chunk) => chunk.choices[0].delta.content).join("")).toBe("In trees [1].");
  });
});

describe("a tool that searches", () => {
  it("finds passages that the answer can cite, in a worker of its own", async () => {
    stack.provider.reply(
      {
        toolCalls: [
          { id: "a", name: "knowledge_search", arguments: JSON.stringify({ query: "heron nests" }) },
        ],
      },
      { pieces: ["In trees [1]."] },
    );
    const { body } = await chat(tenants.agents.librarian);
    expect(body.choices[0].message.content).toBe("In trees [1].");
    expect(body.citations).toMatchObject([{ index: 1, document_id: documentId }]);
    expect(requests()[1]!["messages"].at(-1).content).toContain("<<<SOURCES\n[1] herons.md");
  });

  it("is told of in the stream as it begins and ends, and only to those who ask for it", async () => {
    const listing = { id: "a", name: "list_documents", arguments: "{}" };
    const nonsense = { id: "b", name: "read_document", arguments: "{}" };
    const tools = async (streamOptions: Record<string, unknown>): Promise<any[]> => {
      stack.provider.reply({ toolCalls: [listing, nonsense] }, { pieces: ["ok"] });
      const { body } = await chat(tenants.agents.librarian, { stream: true, stream_options: streamOptions });
      return String(body)
        .split("\n\n")
        .filter((event) => event.startsWith("data: {"))
        .flatMap((event) => JSON.parse(event.slice(6)).tools ?? []);
    };
    expect(await tools({ include_tools: true })).toEqual([
      { id: "a", name: "list_documents", status: "running" },
      { id: "b", name: "read_document", status: "running" },
      { id: "a", name: "list_documents", status: "done" },
      { id: "b", name: "read_document", status: "failed" },
    ]);
    expect(await tools({})).toEqual([]);
  });

  it("reads and lists no more than the caller reaches", async () => {
    const read = { id: "a", name: "read_document", arguments: JSON.stringify({ document_id: documentId }) };
    stack.provider.reply(
      { toolCalls: [read, { id: "b", name: "list_documents", arguments: "{}" }] },
      { pieces: ["ok"] },
    );
    await chat(tenants.agents.librarian);
    const [document, list] = requests()[1]!
      ["messages"].slice(-2)
      .map((message: any) => message.content);
    expect(document).toContain("frogs and voles");
    expect(list).toContain("herons.md");
  });
});
