/** What OpenAI's official clients, in JavaScript and in Python, make of the chat interface. */
import OpenAI from "openai";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { call } from "../support/clients/client.ts";
import { runWithPythonClient } from "../support/clients/python-client.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const ANSWER = "You said: one two";
const USAGE = { prompt_tokens: expect.any(Number), completion_tokens: 4, total_tokens: expect.any(Number) };

const { stack, tenants } = onKillableStack({ withoutWorker: true, env: { CHAT_TURN_SECONDS: "3" } });
let baseURL: string;

beforeAll(async () => {
  baseURL = `${stack.url}/v1`;
  const ready = { model: tenants.agents.librarian, messages: [{ role: "user", content: "Hello" }] };
  await until(
    "chat is ready",
    async () =>
      (await call(stack.url, tenants.keys.owner, "POST", "/chat/completions", ready)).status === 200,
  );
});

beforeEach(() => {
  stack.provider.requests.length = 0;
  stack.provider.replyAlways((body) => {
    const asked = String(body["messages"].at(-1).content);
    if (asked === "rate limit") return { status: 429, headers: { "retry-after": "7" } };
    if (asked === "refuse") return { status: 400 };
    if (asked === "time out") return { status: 504 };
    if (asked === "break off") return { pieces: ["Half", " of", " it"], breakWith: "error", after: 2 };
    return { pieces: ["You", " said", ": ", asked] };
  });
});

const timesAsked = (text: string): number =>
  stack.provider.requests.filter(
    ({ route, body }) => route === "chat" && body["messages"].at(-1).content === text,
  ).length;

describe("in JavaScript", () => {
  const client = (options: { apiKey?: string; maxRetries?: number } = {}) =>
    new OpenAI({ baseURL, apiKey: tenants.keys.owner, maxRetries: 0, ...options });
  const ask = (content: string) => ({
    model: tenants.agents.librarian,
    messages: [{ role: "user" as const, content }],
  });

  test("models are the agents", async () => {
    const models = [];
    for await (const model of client().models.list()) models.push(model);
    expect(models).toContainEqual(
      expect.objectContaining({ id: tenants.agents.librarian, object: "model", name: "Librarian" }),
    );
  });

  test("a completion comes whole, with its request's id and raw response", async () => {
    const { data, response, request_id } = await client()
      .chat.completions.create(ask("one two"))
      .withResponse();
    expect(data).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: ANSWER }, finish_reason: "stop" }],
      usage: USAGE,
    });
    expect(request_id).toBe(response.headers.get("x-request-id"));
    expect(Number(response.headers.get("ratelimit-limit"))).toBeGreaterThan(0);
  });

  test("a completion comes streamed, with its usage where that was asked for", async () => {
    for (const include_usage of [false, true]) {
      const chunks = [];
      for await (const chunk of await client().chat.completions.create({
        ...ask("one two"),
        stream: true,
        stream_options: { include_usage },
      }))
        chunks.push(chunk);
      expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(ANSWER);
      expect(chunks.at(-1)?.usage).toEqual(include_usage ? USAGE : null);
    }
    const runner = client().chat.completions.stream(ask("one two"));
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe(ANSWER);
  });

  test("failures are the client's own classes", async () => {
    const failing = (content: string, maxRetries = 0) =>
      client({ maxRetries }).chat.completions.create(ask(content));
    await expect(client().chat.completions.create({ ...ask("hi"), model: "gpt-4o" })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    await expect(client().chat.completions.create({ ...ask("hi"), messages: [] })).rejects.toBeInstanceOf(
      OpenAI.UnprocessableEntityError,
    );
    await expect(client({ apiKey: `sk-${"x".repeat(49)}` }).models.list()).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    const limited = await failing("rate limit").catch((error: unknown) => error);
    expect(limited).toBeInstanceOf(OpenAI.RateLimitError);
    expect((limited as InstanceType<typeof OpenAI.RateLimitError>).headers.get("retry-after")).toBe("7");
    await expect(failing("time out")).rejects.toMatchObject({
      constructor: OpenAI.InternalServerError,
      status: 504,
    });
  });

  test("a failure says what went wrong, in words and by code", async () => {
    await expect(client().chat.completions.create({ ...ask("hi"), model: "gpt-4o" })).rejects.toMatchObject({
      message: "404 Model 'gpt-4o' not found",
      code: "model_not_found",
      param: "model",
      type: "invalid_request_error",
      error: { doc_url: expect.stringMatching(/\/docs\/errors\/model_not_found$/) },
    });
    await expect(client().chat.completions.create({ ...ask("hi"), messages: [] })).rejects.toMatchObject({
      code: "invalid",
      param: "messages",
    });
    await expect(client({ apiKey: "my-key" }).models.list()).rejects.toMatchObject({
      message: expect.stringContaining("sk-"),
      code: "invalid_api_key",
    });
    await expect(client().get("/nowhere")).rejects.toMatchObject({ code: "route_not_found" });
    await expect(client().get(`/data/${newId()}`)).rejects.toMatchObject({ code: "document_not_found" });
  });

  test("a refusal of the provider is not tried again", async () => {
    await expect(client({ maxRetries: 2 }).chat.completions.create(ask("refuse"))).rejects.toMatchObject({
      constructor: OpenAI.InternalServerError,
      status: 502,
    });
    expect(timesAsked("refuse")).toBe(1);
  });

  test("a stream that breaks off throws, and never looks whole", async () => {
    const seen: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const chunk of await client().chat.completions.create({ ...ask("break off"), stream: true }))
        seen.push(chunk.choices[0]?.delta.content ?? "");
    };
    await expect(reading()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(seen.join("")).toBe("Half of");
  });
});

describe("in Python", () => {
  test(
    "models, completions, streams, raw responses and failures are the client's own",
    { timeout: 6 * 60_000 },
    async () => {
      const seen = await runWithPythonClient(
        process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "",
        "openai-client.py",
        [baseURL, tenants.keys.owner, tenants.agents.librarian],
      );
      const streamed = { role: "assistant", content: ANSWER, finish_reason: "stop" };
      const failed = (type: string, status: number | null, code: string) =>
        expect.objectContaining({
          type,
          status,
          body: expect.objectContaining({ message: expect.any(String), code }),
        });
      expect(seen).toEqual({
        models: expect.arrayContaining([
          { id: tenants.agents.librarian, object: "model", name: "Librarian" },
        ]),
        whole: { content: ANSWER, finish_reason: "stop", usage: USAGE, object: "chat.completion" },
        raw: { request_id: expect.any(String), limit: expect.stringMatching(/^\d+$/), content: ANSWER },
        streamed: { ...streamed, usage: null },
        streamed_with_usage: { ...streamed, usage: USAGE },
        failures: {
          "unknown model": failed("NotFoundError", 404, "model_not_found"),
          "no messages": failed("UnprocessableEntityError", 422, "invalid"),
          "wrong key": failed("AuthenticationError", 401, "invalid_api_key"),
          "rate limit": failed("RateLimitError", 429, "provider_rate_limited"),
          refusal: failed("InternalServerError", 502, "rejected_by_provider"),
          "time-out": failed("InternalServerError", 504, "provider_timeout"),
          "broken stream": failed("APIError", null, "provider_unavailable"),
        },
      });
      expect(timesAsked("refuse")).toBe(1);
    },
  );
});
