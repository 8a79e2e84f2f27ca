/** Resources, their notifications, prompts and completion of `/mcp`, by the official client. */
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { call, ended, upload } from "../../support/clients/client.ts";
import { beginMcp, connectMcp, postMcp } from "../../support/clients/mcp-client.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";
import { until } from "../../support/until.ts";

const shared = onSharedStack();
const keys = () => shared.tenants.keys;
const research = () => shared.tenants.spaces.research;
const uriOf = (id: string) => `holdfast://spaces/${research()}/documents/${id}`;

async function processed(text: string, name: string): Promise<string> {
  const { id } = await upload(shared.stack.url, keys().owner, research(), text, name);
  await ended(shared.stack.url, keys().owner, id);
  return id as string;
}

const connected = async (key: string) => (await connectMcp(shared.stack.url, key)).client;

test("documents are listed as resources, page by page, and read as Markdown", async () => {
  const ids: string[] = [];
  for (let no = 0; no < 52; no += 1) {
    const { id } = await upload(shared.stack.url, keys().owner, research(), `Note ${no}.`, `note-${no}.txt`);
    ids.push(id);
  }
  await ended(shared.stack.url, keys().owner, ids.at(-1)!);
  const client = await connected(keys().owner);
  const first = await client.listResources();
  const second = await client.listResources({ cursor: first.nextCursor! });
  const { contents } = await client.readResource({ uri: uriOf(ids.at(-1)!) });
  const { resourceTemplates } = await client.listResourceTemplates();

  expect(first.resources).toHaveLength(50);
  expect(first.resources[0]).toMatchObject({ uri: uriOf(ids.at(-1)!), name: "note-51.txt" });
  expect(second.resources.length).toBeGreaterThanOrEqual(2);
  expect(contents).toEqual([{ uri: uriOf(ids.at(-1)!), mimeType: "text/markdown", text: "Note 51." }]);
  expect(resourceTemplates[0]!.uriTemplate).toBe("holdfast://spaces/{space_id}/documents/{document_id}");
  await expect(client.listResources({ cursor: "made-up" })).rejects.toMatchObject({ code: -32_602 });
});

test("a long document is read in parts, each of which names the next", async () => {
  const paragraphs = Array.from({ length: 900 }, (_, no) => `Paragraph ${no} ${"words ".repeat(20)}`.trim());
  const id = await processed(paragraphs.join("\n\n"), "very-long.md");
  const client = await connected(keys().owner);
  const texts: string[] = [];
  for (let uri: string | undefined = uriOf(id); uri !== undefined;) {
    const { contents } = await client.readResource({ uri });
    const [content] = contents as { text: string; _meta?: Record<string, string> }[];
    texts.push(content!.text);
    uri = content!._meta?.["holdfast/next"];
  }

  expect(texts.length).toBeGreaterThan(1);
  expect(texts.join("\n\n")).toBe(paragraphs.join("\n\n"));
});

test("a resource under another space's address does not exist", async () => {
  const id = await processed("One place only.", "place.txt");
  const client = await connected(keys().owner);
  const uri = `holdfast://spaces/${shared.tenants.spaces.archive}/documents/${id}`;

  await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_002 });
  await expect(client.readResource({ uri: "file:///etc/passwd" })).rejects.toMatchObject({ code: -32_002 });
});

test("a session hears that a document it subscribed to was processed again, and of no other", async () => {
  const id = await processed("It changes.", "changes.txt");
  const other = await processed("It stays.", "stays.txt");
  const client = await connected(keys().viewer);
  const updated: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updated.push(params.uri);
  });
  await client.subscribeResource({ uri: uriOf(id) });
  await call(shared.stack.url, keys().owner, "POST", `/data/${other}/reprocess`, {});
  await ended(shared.stack.url, keys().owner, other);
  await call(shared.stack.url, keys().owner, "POST", `/data/${id}/reprocess`, {});
  await until("the session hears of it", async () => updated.length > 0);

  expect(new Set(updated)).toEqual(new Set([uriOf(id)]));
});

test("without the subscription a session hears no more of the document, but that lists have changed", async () => {
  const id = await processed("It changes quietly.", "quiet.txt");
  const other = await processed("It changes aloud.", "aloud.txt");
  const client = await connected(keys().owner);
  const heard: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    heard.push(params.uri);
  });
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    heard.push("resources");
  });
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => {
    heard.push("prompts");
  });
  for (const document of [id, other]) await client.subscribeResource({ uri: uriOf(document) });
  // Whatever was to be told of its first run has been told before what comes later.
  await call(shared.stack.url, keys().owner, "POST", `/data/${other}/reprocess`, {});
  await until("the session hears of the other", async () => heard.includes(uriOf(other)));
  await client.unsubscribeResource({ uri: uriOf(id) });
  heard.length = 0;
  await call(shared.stack.url, keys().owner, "POST", `/data/${id}/reprocess`, {});
  await ended(shared.stack.url, keys().owner, id);
  await upload(shared.stack.url, keys().owner, research(), "New.", "new.txt");
  await until("the session hears of the list", async () => heard.includes("resources"));

  expect(heard).not.toContain(uriOf(id));
});

test("a stream goes on after the last event, also with what happened without it", async () => {
  const { url } = shared.stack;
  const id = await processed("It changes while nobody listens.", "unheard.txt");
  const sessionId = await beginMcp(url, keys().owner);
  await postMcp(
    url,
    keys().owner,
    { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: uriOf(id) } },
    { sessionId },
  );
  const first = await streamOf(sessionId);
  const lastEventId = /id: (\S+)/.exec(await first.next())![1]!;
  await first.cancel();
  await call(url, keys().owner, "POST", `/data/${id}/reprocess`, {});
  await ended(url, keys().owner, id);
  const second = await streamOf(sessionId, lastEventId);
  let heard = "";
  while (!heard.includes("resources/updated")) heard += await second.next();
  await second.cancel();

  expect(heard).toContain(uriOf(id));
});

async function streamOf(sessionId: string, lastEventId?: string) {
  const response = await postMcp(shared.stack.url, keys().owner, undefined, {
    sessionId,
    method: "GET",
    headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const reader = response.body!.getReader();
  return {
    next: async () => new TextDecoder().decode((await reader.read()).value),
    ended: async () => {
      while (!(await reader.read()).done);
    },
    cancel: () => reader.cancel(),
  };
}

test("a later stream takes the place of the one before", async () => {
  const sessionId = await beginMcp(shared.stack.url, keys().owner);
  const first = await streamOf(sessionId);
  await first.next();
  const second = await streamOf(sessionId);
  await second.next();
  // Each event makes a stream look whether it serves the session still.
  await upload(shared.stack.url, keys().owner, research(), "Look.", "look.txt");

  await expect(first.ended()).resolves.toBeUndefined();
  await second.cancel();
});

test("agents are prompts, which ask them by the tool; and one takes the agent as an argument", async () => {
  const client = await connected(keys().owner);
  const { prompts } = await client.listPrompts();
  const { librarian } = shared.tenants.agents;
  const { messages } = await client.getPrompt({ name: librarian, arguments: { question: "Who wrote it?" } });
  const asked = await client.getPrompt({
    name: "ask-agent",
    arguments: { agent_id: librarian, question: "Who wrote it?" },
  });

  expect(prompts.map(({ name }) => name)).toEqual(expect.arrayContaining(["ask-agent", librarian]));
  expect(JSON.stringify(messages)).toContain("Who wrote it?");
  expect(JSON.stringify(messages)).toContain(librarian);
  expect(asked.messages).toEqual(messages);
  const { rival } = shared.tenants.agents;
  expect(prompts.map(({ name }) => name)).not.toContain(rival);
  await expect(client.getPrompt({ name: rival, arguments: { question: "x" } })).rejects.toMatchObject({
    code: -32_602,
  });
});

test("a prompt that is none is unknown whatever its arguments, and a missing argument is named", async () => {
  const client = await connected(keys().owner);
  const refusalOf = async (name: string, args?: Record<string, string>) => {
    const asked = client.getPrompt({ name, ...(args === undefined ? {} : { arguments: args }) });
    const { code, message } = (await asked.catch((error: unknown) => error)) as Error & { code: number };
    return [code, message.replace(/^MCP error -\d+: /, "")];
  };
  const { librarian, rival } = shared.tenants.agents;
  const missing = (names: string) => [-32_602, `Missing arguments of the prompt: ${names}`];

  expect(await refusalOf("no-such-prompt")).toEqual([-32_602, "Unknown prompt"]);
  expect(await refusalOf(rival)).toEqual([-32_602, "Unknown prompt"]);
  expect(await refusalOf(librarian)).toEqual(missing("question"));
  expect(await refusalOf("ask-agent", { question: "Who?" })).toEqual(missing("agent_id"));
  expect(await refusalOf("ask-agent", { agent: librarian })).toEqual(missing("agent_id, question"));
  for (const agent_id of [rival, "librarian"])
    expect(await refusalOf("ask-agent", { agent_id, question: "Who?" })).toEqual([
      -32_002,
      "Agent not found: the tool list_agents has the ids",
    ]);
});

test("arguments are completed by the beginnings of names and ids", async () => {
  const id = await processed("To be completed.", "kingfisher.txt");
  const client = await connected(keys().owner);
  const complete = async (name: string, value: string, context?: Record<string, string>) => {
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "holdfast://spaces/{space_id}/documents/{document_id}" },
      argument: { name, value },
      ...(context === undefined ? {} : { context: { arguments: context } }),
    });
    return completion.values;
  };
  const agents = await client.complete({
    ref: { type: "ref/prompt", name: "ask-agent" },
    argument: { name: "agent_id", value: "" },
  });

  expect(await complete("space_id", "rese")).toContain(research());
  expect(await complete("space_id", research().slice(0, 20))).toContain(research());
  expect(await complete("space_id", "no such space")).toEqual([]);
  expect(await complete("space_id", `${"a".repeat(254)}🐦 and more`)).toEqual([]);
  expect(await complete("document_id", "kingf", { space_id: research() })).toEqual([id]);
  expect(await complete("document_id", "kingf", { space_id: shared.tenants.spaces.archive })).toEqual([]);
  expect(agents.completion.values).toContain(shared.tenants.agents.librarian);
});
