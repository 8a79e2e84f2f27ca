/** The tools of `/mcp`, each by the official client, which checks structured content by the output schema. */
import { expect, test } from "vitest";
import { ended, call, upload } from "../../support/clients/client.ts";
import { connectMcp } from "../../support/clients/mcp-client.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";
import { until } from "../../support/until.ts";

const shared = onSharedStack();
const keys = () => shared.tenants.keys;
const spaces = () => shared.tenants.spaces;

interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: { type: string; text: string }[];
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into whatever came
  readonly structuredContent?: any;
  readonly _meta?: Record<string, unknown>;
}

async function connected(key: string) {
  const { client } = await connectMcp(shared.stack.url, key);
  // The client knows the output schemas once it has listed the tools.
  await client.listTools();
  return {
    client,
    tool: async (name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> =>
      (await client.callTool({ name, arguments: args })) as unknown as ToolAnswer,
  };
}

async function processed(text: string, name: string): Promise<string> {
  const { url } = shared.stack;
  const { id } = await upload(url, keys().owner, spaces().research, text, name);
  await ended(url, keys().owner, id);
  return id as string;
}

test("search finds what the route finds, with document, chunk and scores", async () => {
  const id = await processed("The heron stands in shallow water and waits for fish.", "heron.txt");
  const { tool } = await connected(keys().owner);
  const query = { query: "heron shallow water", space_ids: [spaces().research] };
  const { structuredContent, content } = await tool("search", query);
  const { body } = await call(shared.stack.url, keys().owner, "POST", "/data/hybrid-search", query);
  const ids = (results: { chunk_id: string; score: number }[]) =>
    results.map(({ chunk_id, score }) => [chunk_id, score]);

  expect(structuredContent.results[0]).toMatchObject({
    document_id: id,
    document_name: "heron.txt",
    uri: `holdfast://spaces/${spaces().research}/documents/${id}`,
  });
  expect(ids(structuredContent.results)).toEqual(ids(body.results));
  expect(JSON.parse(content[0]!.text)).toEqual(structuredContent);
  expect(structuredContent.results[0]).not.toHaveProperty("context");
  const beside = await tool("search", { ...query, context: 1 });
  expect(beside.structuredContent.results[0]).toMatchObject({ context: { before: [], after: [] } });
  expect(await tool("search", { ...query, context: 4 })).toMatchObject({ isError: true });
});

test("search and lists reach nothing of another tenant, whatever they name", async () => {
  const id = await processed("Canary: the password is nightjar.", "canary.txt");
  const { client, tool } = await connected(keys().rival);
  const found = await tool("search", { query: "nightjar password", space_ids: [spaces().research] });
  const listed = await tool("list_documents", { space_id: spaces().research });
  const read = await tool("read_document", { document_id: id });
  const uri = `holdfast://spaces/${spaces().research}/documents/${id}`;

  expect(found.structuredContent.results).toEqual([]);
  expect(listed.structuredContent.documents).toEqual([]);
  expect(read).toMatchObject({ isError: true, content: [{ text: "Document not found" }] });
  await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_002 });
  await expect(client.subscribeResource({ uri })).rejects.toMatchObject({ code: -32_002 });
});

test("list_spaces names the caller's spaces and roles, page by page", async () => {
  const { tool } = await connected(keys().owner);
  const first = await tool("list_spaces", { limit: 1 });
  const all = await tool("list_spaces");
  const second = await tool("list_spaces", { limit: 1, cursor: first.structuredContent.next_cursor });
  const wrong = await tool("list_documents", { cursor: first.structuredContent.next_cursor });

  expect(all.structuredContent.spaces).toContainEqual(
    expect.objectContaining({ id: spaces().research, role: "owner" }),
  );
  expect([first, second].map(({ structuredContent }) => structuredContent.spaces[0].id)).toEqual(
    all.structuredContent.spaces.slice(0, 2).map(({ id }: { id: string }) => id),
  );
  expect(wrong).toMatchObject({ isError: true, content: [{ text: "Invalid cursor" }] });
});

test("list_agents has the ids that ask_agent takes, page by page, of nobody else's agents", async () => {
  const { client, tool } = await connected(keys().owner);
  const { librarian, rival } = shared.tenants.agents;
  const all = await tool("list_agents");
  const first = await tool("list_agents", { limit: 1 });
  const second = await tool("list_agents", { limit: 1, cursor: first.structuredContent.next_cursor });
  const { prompts } = await client.listPrompts();
  const ids = all.structuredContent.agents.map(({ id }: { id: string }) => id);
  const others = await tool("ask_agent", { agent_id: rival, question: "Who?" });
  const wrong = await tool("ask_agent", { agent_id: "librarian", question: "Who?" });

  expect(all.structuredContent.agents).toContainEqual(
    expect.objectContaining({ id: librarian, name: expect.any(String), description: expect.any(String) }),
  );
  expect(ids).toEqual(prompts.map(({ name }) => name).filter((name) => name !== "ask-agent"));
  expect([first, second].map(({ structuredContent }) => structuredContent.agents[0].id)).toEqual(
    ids.slice(0, 2),
  );
  expect(ids).not.toContain(rival);
  for (const refused of [others, wrong])
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("list_agents") }],
    });
  expect(client.getInstructions()).toContain("list_agents");
});

test("read_document gives the whole text in parts", async () => {
  const paragraphs = Array.from({ length: 40 }, (_, no) => `Paragraph ${no} ${"word ".repeat(20)}`.trim());
  const id = await processed(paragraphs.join("\n\n"), "long.md");
  const { tool } = await connected(keys().viewer);
  const parts: string[] = [];
  for (let cursor: string | undefined; ;) {
    const { structuredContent } = await tool("read_document", {
      document_id: id,
      max_characters: 1_000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    parts.push(structuredContent.text);
    cursor = structuredContent.next_cursor;
    if (cursor === undefined) break;
  }

  expect(parts.length).toBeGreaterThan(3);
  expect(parts.join("\n\n")).toBe(paragraphs.join("\n\n"));
});

test("ask_agent answers with citations, counts as a chat, and tells how far it is", async () => {
  await processed("The harbour opened in 1907.", "harbour.txt");
  const { client } = await connected(keys().owner);
  const told: number[] = [];
  const answer = (await client.callTool(
    {
      name: "ask_agent",
      arguments: { agent_id: shared.tenants.agents.librarian, question: "When did the harbour open?" },
    },
    undefined,
    { onprogress: ({ progress }) => told.push(progress) },
  )) as unknown as ToolAnswer;

  expect(answer.isError).toBeUndefined();
  expect(answer.structuredContent).toMatchObject({
    answer: expect.stringMatching(/\S/),
    finish_reason: "stop",
    citations: expect.any(Array),
  });
  expect(told.length).toBeGreaterThan(0);
  expect(told).toEqual([...told].toSorted((a, b) => a - b));
});

test("upload_document stores text and bytes, waits for the processing, and leaves the key in the audit log", async () => {
  const { client, tool } = await connected(keys().editor);
  const told: string[] = [];
  const uploaded = (await client.callTool(
    {
      name: "upload_document",
      arguments: {
        space_id: spaces().research,
        name: "../otter.txt",
        content: "An otter holds hands while it sleeps.",
        wait_seconds: 60,
      },
    },
    undefined,
    { onprogress: ({ message }) => told.push(message ?? ""), timeout: 90_000 },
  )) as unknown as ToolAnswer;
  const binary = await tool("upload_document", {
    space_id: spaces().research,
    name: "bytes.txt",
    content: Buffer.from("Bytes of a file.").toString("base64"),
    encoding: "base64",
  });
  const { document } = uploaded.structuredContent;
  const { rows } = await shared.stack.database.db.owner.query(
    "select action, auth_method, outcome from audit_log where resource_id = $1 and action = 'documents:create'",
    [document.id],
  );

  expect(document).toMatchObject({ name: "otter.txt", status: "completed", version: 1 });
  expect(told).toContain("storing");
  expect(binary.structuredContent.document).toMatchObject({ name: "bytes.txt", file_size: 16 });
  expect(rows).toEqual([{ action: "documents:create", auth_method: "api_key", outcome: "success" }]);
});

test("upload_document takes metadata and tags, with the checks of the route", async () => {
  const { tool } = await connected(keys().editor);
  const uploadWith = (fields: object) =>
    tool("upload_document", {
      space_id: spaces().research,
      name: "tagged.txt",
      content: "A wren sings louder than its size.",
      ...fields,
    });
  const { structuredContent } = await uploadWith({ metadata: { year: 1907, no: null }, tags: ["wren"] });
  const { id } = structuredContent.document;
  const { body } = await call(shared.stack.url, keys().owner, "GET", `/data/${id}`);
  const refused = await Promise.all(
    [
      { metadata: { original_filename: "x" } },
      { metadata: { text: "x".repeat(70_000) } },
      { metadata: { tags: ["a"] }, tags: ["b"] },
      { metadata: [] },
      { tags: [""] },
      { tags: Array.from({ length: 101 }, () => "a") },
    ].map(uploadWith),
  );

  expect(body.doc_metadata).toMatchObject({ year: 1907, tags: ["wren"] });
  expect(body.doc_metadata).not.toHaveProperty("no");
  expect(refused.map(({ isError, content }) => [isError, content[0]!.text])).toEqual(
    ["metadata", "metadata", "tags", "metadata", "tags", "tags"].map((field) => [
      true,
      expect.stringMatching(`^Invalid arguments: ${field}`),
    ]),
  );
});

test("reprocess_document that was waited for says why the file failed", async () => {
  const { tool } = await connected(keys().editor);
  const uploaded = await tool("upload_document", {
    space_id: spaces().research,
    name: "broken.pdf",
    content: "This is no PDF.",
    wait_seconds: 60,
  });
  const { id, error } = uploaded.structuredContent.document;
  const again = await tool("reprocess_document", { document_id: id, wait_seconds: 60 });

  expect(error).toEqual(expect.stringMatching(/\S/));
  expect(again.structuredContent).toMatchObject({ document_id: id, status: "failed", error });
});

test("reprocess_document makes a new version, delete_document takes it out of search", async () => {
  const id = await processed("The bittern booms at night.", "bittern.txt");
  const { tool } = await connected(keys().editor);
  const again = await tool("reprocess_document", { document_id: id, wait_seconds: 60 });
  const deleted = await tool("delete_document", { document_id: id });
  const found = await tool("search", { query: "bittern booms", space_ids: [spaces().research] });
  const twice = await tool("delete_document", { document_id: id });

  expect(again.structuredContent).toMatchObject({ document_id: id, status: "completed" });
  expect(deleted.structuredContent).toEqual({ document_id: id, deleted: true });
  expect(
    found.structuredContent.results.map((hit: { document_id: string }) => hit.document_id),
  ).not.toContain(id);
  expect(twice).toMatchObject({ isError: true, _meta: { "holdfast/error": { status: 404 } } });
});

test("arguments that do not fit, and a tool that fails, are answers that the model can read", async () => {
  const { tool } = await connected(keys().owner);
  const wrong = await tool("search", { query: 7, unknown: true });
  const base64 = await tool("upload_document", {
    space_id: spaces().research,
    name: "x.bin",
    content: "not base64!",
    encoding: "base64",
  });

  expect(wrong.isError).toBe(true);
  expect(wrong.content[0]!.text).toMatch(/^Invalid arguments: .*query/);
  expect(base64).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("base64") }] });
  await expect(tool("no_such_tool")).rejects.toMatchObject({ code: -32_602 });
});

test("a viewer's call of a tool that writes is refused, and the refusal is in the audit log", async () => {
  const id = await processed("The crane dances.", "crane.txt");
  const { tool } = await connected(keys().viewer);
  const refused = await tool("delete_document", { document_id: id });
  const stored = await tool("upload_document", {
    space_id: spaces().research,
    name: "no.txt",
    content: "Not mine to write.",
  });

  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: "Permission denied: documents:delete" }],
  });
  expect(stored).toMatchObject({ isError: true, content: [{ text: "Permission denied: documents:create" }] });
  await until("the refusal is in the audit log", async () => {
    const { rows } = await shared.stack.database.db.owner.query(
      "select from audit_log where resource_id = $1 and starts_with(outcome, 'denied ')",
      [id],
    );
    return rows.length === 1;
  });
});
