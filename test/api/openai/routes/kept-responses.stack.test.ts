/** Responses that are kept: who reads them and goes on from them; and requests that are refused. */
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";

let chat: ChatHarness;
let agent: string;
let client: OpenAI;

beforeAll(async () => {
  chat = await startChat();
  agent = await chat.addAgent({ system_prompt: "You are brief." });
  client = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: chat.key, maxRetries: 0 });
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const lastRequest = () => chat.provider.requests.findLast((request) => request.route === "chat")!.body;
const refusalOf = async (body: Record<string, unknown>) => {
  const error = await client.responses.create(body as never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  const { status, param, code } = error as InstanceType<typeof OpenAI.APIError>;
  return { status, param, code };
};

describe("a kept response", () => {
  it("is read, listed and deleted by the key that made it, and by no other", async () => {
    const made = await client.responses.create({ model: agent, input: "Remember me" });
    expect(await client.responses.retrieve(made.id)).toEqual(made);
    const items = [];
    for await (const item of client.responses.inputItems.list(made.id)) items.push(item);
    expect(items).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Remember me" }] },
    ]);
    const other = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: await chat.makeKey(), maxRetries: 0 });
    await expect(other.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(other.responses.delete(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(
      other.responses.create({ model: agent, input: "And?", previous_response_id: made.id }),
    ).rejects.toMatchObject({
      status: 404,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
    await client.responses.delete(made.id);
    await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("stays deleted if it was deleted while it came", async () => {
    const held = Promise.withResolvers<void>();
    chat.provider.reply({ pieces: ["Half", " more"], heldBy: held.promise });
    const stream = await client.responses.create({ model: agent, input: "Forget me", stream: true });
    let id = "";
    for await (const event of stream) {
      if (event.type === "response.created") ({ id } = event.response);
      if (event.type !== "response.output_text.delta" || event.delta !== "Half") continue;
      await expect
        .poll(async () =>
          client.responses.delete(id).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      held.resolve();
    }
    // It is written behind the last event: what is asked for afterwards is written later.
    const later = await client.responses.create({ model: agent, input: "Remember me" });
    expect(await client.responses.retrieve(later.id)).toEqual(later);
    await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("is gone on from, with its items and without its instructions", async () => {
    const first = await client.responses.create({ model: agent, input: "One", instructions: "Count." });
    const second = await client.responses.create({
      model: agent,
      input: "Two",
      previous_response_id: first.id,
    });
    await client.responses.create({ model: agent, input: "Three", previous_response_id: second.id });
    expect(lastRequest()["messages"].map(({ content }: { content: string }) => content)).toEqual([
      "You are brief.",
      "One",
      "You said: One",
      "Two",
      "You said: Two",
      "Three",
    ]);
  });

  it("lists its input page by page, and refuses to page from an item that it has not", async () => {
    const texts = ["One", "Two", "Three", "Four", "Five"];
    const input = texts.map((content) => ({ role: "user" as const, content, id: "same" }));
    const { id } = await client.responses.create({ model: agent, input: input as never });
    const list = (query: object) =>
      client.responses.inputItems.list(id, { order: "asc", limit: 2, ...query });
    const textsOf = ({ data }: { data: readonly object[] }) =>
      data.map((item) => (item as { content: { text: string }[] }).content[0]!.text);
    const ids: string[] = [];
    for await (const item of await list({})) {
      ids.push(item.id!);
      if (ids.length > texts.length) break;
    }
    expect(new Set(ids).size).toBe(5);
    expect(ids).toHaveLength(5);
    expect(textsOf(await list({ after: ids[1] }))).toEqual(["Three", "Four"]);
    const before = await list({ before: ids[4] });
    expect([textsOf(before), before.has_more]).toEqual([["Three", "Four"], true]);
    expect(textsOf(await list({ order: "desc", before: ids[2] }))).toEqual(["Five", "Four"]);
    for (const param of ["after", "before"])
      await expect(list({ [param]: "msg_9" })).rejects.toMatchObject({ status: 400, param });
  });

  it("is kept nowhere with `store: false`", async () => {
    const made = await client.responses.create({ model: agent, input: "Forget me", store: false });
    await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("is streamed again as it was", async () => {
    const made = await client.responses.create({ model: agent, input: "Again" });
    const events = [];
    for await (const event of await client.responses.retrieve(made.id, { stream: true })) events.push(event);
    expect(events[0]).toMatchObject({ type: "response.created", sequence_number: 0 });
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { id: made.id } });
  });
});

describe("an Idempotency-Key", () => {
  const ask = (body: object, key: string, signal?: AbortSignal) =>
    fetch(`${chat.url}/v1/responses`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${chat.key}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ model: agent, input: "Once", ...body }),
      ...(signal ? { signal } : {}),
    });

  it("makes repeats one response with one answer, whole and streamed", async () => {
    const [one, two] = await Promise.all(
      [1, 2].map(async () => (await ask({}, "whole")).json() as Promise<Record<string, unknown>>),
    );
    expect(two).toEqual(one);
    const streams = [];
    for (const key of ["streamed", "streamed"]) streams.push(await (await ask({ stream: true }, key)).text());
    const lastOf = (text: string | undefined) =>
      text
        ?.trimEnd()
        .split("\n")
        .at(-1)
        ?.replace(/"sequence_number":\d+,/, "");
    expect(lastOf(streams[1])).toBe(lastOf(streams[0]));
    expect(chat.provider.requests.filter(({ route }) => route === "chat")).toHaveLength(2);
  });

  it("lets the response go on without its client, and refuses another request", async () => {
    chat.provider.reply({ pieces: ["a", "b", "c"], delayMsBetweenPieces: 100 });
    const leave = new AbortController();
    const open = ask({ stream: true }, "left", leave.signal).then((answer) => answer.text());
    await expect.poll(() => chat.provider.requests.filter(({ route }) => route === "chat").length).toBe(1);
    leave.abort();
    await expect(open).rejects.toThrow(/abort/);
    expect(await (await ask({ stream: true }, "left")).text()).toContain('"text":"abc"');
    expect((await ask({ input: "Other" }, "left")).status).toBe(400);
  });

  it("lets the files of the request be read without its client", async () => {
    const leave = new AbortController();
    const file = { type: "input_file", filename: "a.html", file_data: btoa("<p>The launch is in June.</p>") };
    const open = ask({ input: [{ role: "user", content: [file] }] }, "reads", leave.signal);
    await expect
      .poll(async () => {
        const { rows } = await chat.database.db.owner.query("select from kept_turns where key = $1", [
          "responses\nreads",
        ]);
        return rows.length;
      })
      .toBe(1);
    leave.abort();
    await expect(open).rejects.toThrow(/abort/);
    await expect
      .poll(() => JSON.stringify(chat.provider.requests), { timeout: 30_000 })
      .toContain("The launch is in June.");
  });

  it("is free again after a refusal", async () => {
    chat.provider.failChat({ status: 400 }, 1);
    expect((await ask({}, "refused")).status).toBe(502);
    expect((await ask({}, "refused")).status).toBe(200);
  });
});

const CALL = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };

describe("bad input", () => {
  it.each([
    ["a conversation", { conversation: "conv_1" }, "conversation"],
    ["a prompt", { prompt: { id: "pmpt_1" } }, "prompt"],
    ["a tool that is not there", { tools: [{ type: "web_search" }] }, "tools[0].type"],
    ["a choice of no tool", { tool_choice: { type: "function", name: "x" } }, "tool_choice"],
    [
      "an allowed tool that is null",
      { tool_choice: { type: "allowed_tools", mode: "auto", tools: [null] } },
      "tool_choice.tools",
    ],
    [
      "allowed tools that are no list",
      { tool_choice: { type: "allowed_tools", mode: "auto", tools: null } },
      "tool_choice.tools",
    ],
    ["a part that is null", { input: [{ role: "user", content: [null] }] }, "input[0].content[0]"],
    [
      "a part of an output that is null",
      { input: [CALL, { type: "function_call_output", call_id: "c", output: [null] }] },
      "input[1].output[0]",
    ],
    ["a tool that is null", { tools: [null] }, "tools[0]"],
    [
      "parameters that are a list",
      { tools: [{ type: "function", name: "f", parameters: [] }] },
      "tools[0].parameters",
    ],
    ["an include that is null", { include: [null] }, "include[0]"],
    ["an item that is null", { input: [null] }, "input[0]"],
    ["a form that is a list", { text: { format: [] } }, "text.format"],
    [
      "a schema that is a list",
      { text: { format: { type: "json_schema", name: "x", schema: [] } } },
      "text.format.schema",
    ],
    [
      "an output of no call",
      { input: [{ type: "function_call_output", call_id: "call_9", output: "x" }] },
      "input[0].call_id",
    ],
    [
      "a file by its address",
      { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://x.example/a.pdf" }] }] },
      "input[0].content[0].file_url",
    ],
    ["an item that is not there", { input: [{ type: "item_reference", id: "msg_1" }] }, "input[0].id"],
    ["an id that is none", { previous_response_id: "resp_1" }, "previous_response_id"],
    [
      "metadata of 17 keys",
      { metadata: Object.fromEntries([...Array(17).keys()].map((n) => [n, "x"])) },
      "metadata",
    ],
    ["a value of metadata that is too long", { metadata: { a: "x".repeat(513) } }, "metadata.a"],
    ["a background that is not kept", { background: true, store: false }, "background"],
    ["a temperature of 3", { temperature: 3 }, "temperature"],
  ])("refuses %s and names the field", async (_, body, param) => {
    expect(await refusalOf({ model: agent, input: "Hi", ...body })).toMatchObject({ status: 400, param });
  });

  it("passes over items of tools that are not there, whatever their fields have", async () => {
    const items = [
      { type: "reasoning", content: [null], summary: null },
      { type: "computer_call_output", output: [null] },
      { type: "file_search_call", queries: null, results: [null] },
    ];
    const input = [...items, { role: "user", content: "Hi" }];
    const made = await client.responses.create({ model: agent, input: input as never });
    expect(made).toMatchObject({ status: "completed" });
    expect((await client.responses.inputItems.list(made.id)).data).toHaveLength(4);
  });

  it("refuses a conversation that does not fit, unless it may be cut", async () => {
    const long = Array.from({ length: 40 }, () => ({ role: "user", content: "word ".repeat(5_000) }));
    expect(await refusalOf({ model: agent, input: long })).toMatchObject({
      status: 400,
      code: "context_length_exceeded",
    });
    expect(
      await client.responses.create({ model: agent, input: long as never, truncation: "auto" }),
    ).toMatchObject({ status: "completed" });
  });
});
