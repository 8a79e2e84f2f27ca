/** The steps of `ask_responses.py`, with the official client for JavaScript. */
import OpenAI, { toFile } from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import { z } from "zod";
import { until } from "../../until.ts";
import { type Given, embed } from "./embed.ts";
import { type Program, type Steps, beginProgram } from "./steps.ts";

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WEATHER = {
  type: "function" as const,
  name: "get_weather",
  description: "The weather of a city",
  strict: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};
const IN_PARIS = "What is the weather in Paris?";
const ABOUT_FOXES = "Where does the fox dig her den?";
const Animal = z.object({ name: z.string(), legs: z.int() });
const ANIMAL_SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, legs: { type: "integer" } },
  required: ["name", "legs"],
  additionalProperties: false,
};

interface On {
  readonly client: OpenAI;
  readonly stranger: OpenAI;
  readonly given: Given;
  readonly step: Program["step"];
  /** Asks the agent. */
  readonly ask: (
    input: string | ResponseInputItem[],
    more?: Partial<ResponseCreateParamsNonStreaming>,
  ) => Promise<Response>;
  /** Asks the configured model by its name. */
  readonly askModel: On["ask"];
  readonly events: (input: string, more?: Partial<ResponseCreateParamsNonStreaming>) => Promise<unknown[]>;
}

async function gathered(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function plain(on: On): Promise<string> {
  const { client, given, step, ask, askModel } = on;
  const { responses } = client;
  const first = await step("responses.create", () => ask("Hello there"));
  await step("responses.create output_text", async () => first.output_text);
  await step("responses.create items", () =>
    ask(
      [
        { role: "developer", content: "Be short." },
        { role: "user", content: [{ type: "input_text", text: "Hello items" }] },
      ],
      {
        instructions: "Be kind.",
        temperature: 0.5,
        top_p: 0.9,
        max_output_tokens: 200,
        truncation: "disabled",
        metadata: { topic: "greeting" },
      },
    ),
  );
  await step("responses.create by the configured model", () => askModel("Hello model"));
  const withPart = (text: string, part: unknown) =>
    askModel([{ role: "user", content: [{ type: "input_text", text }, part] } as ResponseInputItem]);
  await step("responses.create image", () =>
    withPart("Hello picture", { type: "input_image", image_url: PIXEL, detail: "low" }),
  );
  await step("responses.create file", () => {
    const file_data = `data:text/plain;base64,${Buffer.from("A note.").toString("base64")}`;
    return withPart("Hello file", { type: "input_file", filename: "note.txt", file_data });
  });
  await step("responses.retrieve", () => responses.retrieve(first.id));
  const items = async (id: string, query: OpenAI.Responses.InputItemListParams = {}) => {
    const found: unknown[] = [];
    for await (const item of responses.inputItems.list(id, query)) found.push(item);
    return found;
  };
  await step("responses.input_items.list", () => items(first.id));
  const follow = await step("responses.create previous_response_id", () =>
    ask("And again", { previous_response_id: first.id }),
  );
  await step("responses.input_items.list of a follow-up", () => items(follow.id, { order: "asc", limit: 1 }));
  await step("responses.create store false", async () =>
    responses.retrieve((await ask("Forget me", { store: false })).id),
  );
  await step("responses.create stream", () => on.events("Hello stream"));
  await step("responses.stream", async () => {
    const stream = responses.stream({ model: given.agent, input: "Hello helper" });
    const types = (await gathered(stream)).map(({ type }) => type);
    return { types, final: await stream.finalResponse() };
  });
  return first.id;
}

async function structured({ client, given, step, ask }: On): Promise<void> {
  const format = { type: "json_schema" as const, name: "animal", strict: true, schema: ANIMAL_SCHEMA };
  await step("responses.parse", async () => {
    const text = { format: zodTextFormat(Animal, "animal") };
    return (await client.responses.parse({ model: given.agent, input: "Name an animal", text }))
      .output_parsed;
  });
  await step("responses.create text.format", () => ask("Name an animal", { text: { format } }));
  await step("responses.create refused schema", () => {
    const schema = { type: "object", properties: {} };
    return ask("Refuse the schema", { text: { format: { type: "json_schema", name: "animal", schema } } });
  });
}

async function functions({ client, given, step, ask, events }: On, earlier: string): Promise<void> {
  const tools = [WEATHER];
  const called = await step("responses.create function", () =>
    ask(IN_PARIS, { tools, parallel_tool_calls: false }),
  );
  const callOf = () => {
    const call = called.output.at(-1);
    if (call?.type !== "function_call") throw new Error("no function was called");
    return call;
  };
  const output = (call_id: string, text: string): ResponseInputItem => ({
    type: "function_call_output",
    call_id,
    output: text,
  });
  await step("responses.create function_call_output", async () =>
    ask([output(callOf().call_id, "sunny in Paris")], { tools, previous_response_id: called.id }),
  );
  await step("responses.create function_call_output stateless", async () =>
    ask([{ role: "user", content: IN_PARIS }, callOf(), output(callOf().call_id, "rainy in Paris")], {
      tools,
      store: false,
    }),
  );
  await step("responses.create function streamed", () => events(IN_PARIS, { tools }));
  await step("responses.create tool_choice", () =>
    ask(IN_PARIS, { tools, tool_choice: { type: "function", name: "get_weather" } }),
  );
  await step("responses.parse function", async () => {
    const tool = zodResponsesFunction({
      name: "get_weather",
      parameters: z.object({ city: z.string() }),
    });
    const parsed = await client.responses.parse({ model: given.agent, input: IN_PARIS, tools: [tool] });
    return (parsed.output.at(-1) as { parsed_arguments?: unknown }).parsed_arguments;
  });
  await step("responses.create output of no call", () => ask([output("call_never", "x")]));
  await step("responses.create output of no call after a response", () =>
    ask([output("call_never", "x")], { previous_response_id: earlier }),
  );
}

async function searched({ client, stranger, given, step, askModel, events }: On): Promise<void> {
  const { id } = await step("vector_stores.create", () =>
    client.vectorStores.create({ name: "For responses", metadata: { space_id: given.space } }),
  );
  await step("vector_stores.files.upload_and_poll", async () => {
    const text = "# Foxes\n\nThe fox digs her den under the roots of an old oak.\n";
    const fox = await toFile(Buffer.from(text), "fox.md", { type: "text/markdown" });
    const { id: file } = await client.vectorStores.files.uploadAndPoll(id, fox, { pollIntervalMs: 50 });
    return client.vectorStores.files.update(file, { vector_store_id: id, attributes: { kind: "fox" } });
  });
  const search = {
    type: "file_search" as const,
    vector_store_ids: [id],
    max_num_results: 5,
    filters: { type: "eq" as const, key: "kind", value: "fox" },
  };
  const model = given.chat_model;
  await step("responses.create file_search", () =>
    askModel(ABOUT_FOXES, { tools: [search], include: ["file_search_call.results"] }),
  );
  await step("responses.create file_search without results", () =>
    askModel(ABOUT_FOXES, { tools: [search] }),
  );
  await step("responses.create file_search streamed", () => events(ABOUT_FOXES, { model, tools: [search] }));
  await step("responses.create file_search of another", () =>
    stranger.responses.create({ model, input: ABOUT_FOXES, tools: [search] }),
  );
}

async function backgrounds({ client, given, step, ask }: On, earlier: string): Promise<void> {
  const { responses } = client;
  const ended = (id: string) =>
    until(`response ${id} has ended`, async () => {
      const response = await responses.retrieve(id);
      return !["queued", "in_progress"].includes(response.status ?? "") && response;
    });
  const begun = await step("responses.create background", () =>
    ask("Hello background", { background: true }),
  );
  await step("responses.retrieve background", () => ended(begun.id));
  await step("responses.retrieve stream", async () => {
    const first: ResponseStreamEvent[] = [];
    const body = { model: given.agent, input: "Count slowly", background: true, stream: true as const };
    for await (const event of await responses.create(body)) {
      first.push(event);
      if (event.type === "response.output_text.delta") break;
    }
    const [created] = first;
    if (created?.type !== "response.created") throw new Error(`it begins with ${created?.type}`);
    const after = { stream: true as const, starting_after: first.at(-1)!.sequence_number };
    return { first, rest: await gathered(await responses.retrieve(created.response.id, after)) };
  });
  const slow = await step("responses.create background slow", () =>
    ask("Count very slowly", { background: true }),
  );
  await step("responses.cancel", () => responses.cancel(slow.id));
  await step("responses.cancel again", () => responses.cancel(slow.id));
  await step("responses.retrieve cancelled", () => ended(slow.id));
  await step("responses.cancel of no background", () => responses.cancel(earlier));
}

async function refusals({ client, stranger, given, step, ask, events }: On, earlier: string): Promise<void> {
  const { responses } = client;
  const bySomebodyElse = (more: Partial<ResponseCreateParamsNonStreaming>) =>
    stranger.responses.create({ model: given.chat_model, input: "hi", ...more });
  await step("responses.create unknown model", () => ask("hi", { model: "gpt-of-nobody" }));
  await step("responses.create conversation", () => ask("hi", { conversation: "conv_1" }));
  await step("responses.create web_search", () => ask("hi", { tools: [{ type: "web_search" }] }));
  await step("responses.create previous_response_id of another", () =>
    bySomebodyElse({ previous_response_id: earlier }),
  );
  await step("responses.create previous_response_id unknown", () =>
    ask("hi", { previous_response_id: `resp_${"0".repeat(32)}` }),
  );
  await step("responses.retrieve of another", () => stranger.responses.retrieve(earlier));
  await step("responses.create wrong key", () =>
    client
      .withOptions({ apiKey: `sk-${"x".repeat(49)}` })
      .responses.create({ model: given.agent, input: "hi" }),
  );
  await step("responses.create rate limit", () => ask("Rate limit"));
  await step("responses.create bad field", () => ask("hi", { temperature: 9 }));
  await step("responses.create refused while streaming", () => events("Break off"));
  await step("responses.delete", () => responses.delete(earlier));
  await step("responses.retrieve deleted", () => responses.retrieve(earlier));
}

export async function askResponses(given: Given): Promise<Steps> {
  const program = beginProgram();
  const client = new OpenAI({ baseURL: given.base_url, apiKey: given.key, maxRetries: 0 });
  const { responses } = client;
  const on: On = {
    client,
    stranger: client.withOptions({ apiKey: given.other_key }),
    given,
    step: program.step,
    ask: (input, more) => responses.create({ model: given.agent, input, ...more }),
    askModel: (input, more) => responses.create({ model: given.chat_model, input, ...more }),
    events: async (input, more) =>
      gathered(await responses.create({ model: given.agent, input, ...more, stream: true })),
  };
  await embed(on);
  const first = await plain(on);
  await structured(on);
  await functions(on, first);
  await searched(on);
  await backgrounds(on, first);
  await refusals(on, first);
  return program.end();
}
