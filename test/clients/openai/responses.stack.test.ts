/**
 * What OpenAI's official clients make of responses, embeddings and models: each method, in both languages.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { askResponses } from "../../support/clients/sdk/ask-responses.ts";
import { chatIsReady } from "../../support/clients/sdk/chat-is-ready.ts";
import { ANIMAL, FOX_ANSWER, scriptedModel } from "../../support/clients/sdk/model.ts";
import { SET_UP_MS, missingPython, runProgram } from "../../support/clients/sdk/python.ts";
import type { Steps } from "../../support/clients/sdk/steps.ts";
import { unless } from "../../support/run/unless.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const RESPONSE_ID = /^resp_[0-9a-f]{32}$/;

const { stack, tenants } = onSharedStack();
const given = () => ({
  base_url: `${stack.url}/v1`,
  key: tenants.keys.owner,
  other_key: tenants.keys.rival,
  space: tenants.spaces.research,
  agent: tenants.agents.public,
  chat_model: "scripted-chat",
  embedding_model: "scripted-embedding",
});

beforeAll(async () => {
  await chatIsReady(stack.url, tenants);
  stack.provider.replyAlways(scriptedModel);
});

const LANGUAGES = [
  { language: "JavaScript", missing: undefined, run: () => askResponses(given()) },
  {
    language: "Python",
    missing: missingPython,
    run: () => runProgram({ file: "ask_responses.py", given: given() }),
  },
];

interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
  readonly response?: { readonly id: string; readonly status: string };
}
const typesOf = (events: readonly Event[]) => events.map(({ type }) => type);
const numbersOf = (events: readonly Event[]) => events.map(({ sequence_number }) => sequence_number);
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);
const textOf = (events: readonly Event[]) =>
  events.map(({ type, delta }) => (type === "response.output_text.delta" ? delta : "")).join("");

/** The published sequence of an answer that is one text. */
const TEXT_EVENTS = [
  "response.created",
  "response.in_progress",
  "response.output_item.added",
  "response.content_part.added",
  "response.output_text.delta",
  "response.output_text.done",
  "response.content_part.done",
  "response.output_item.done",
  "response.completed",
];

describe.each(LANGUAGES)("openai in $language", ({ missing, run }) => {
  describe("with responses, embeddings and models", unless(missing), () => {
    let seen: Steps;
    const refused = (name: string, type: string, fields: Record<string, unknown> = {}) =>
      expect(seen.error(name)).toMatchObject({ type, ...fields });

    beforeAll(async () => {
      seen = await run();
    }, SET_UP_MS);

    it("finds agents as models, one by its id too", () => {
      expect(seen.value("models.list")).toContain(tenants.agents.public);
      expect(seen.value("models.retrieve")).toMatchObject({ id: tenants.agents.public, object: "model" });
      refused("models.retrieve unknown", "NotFoundError", { code: "model_not_found" });
    });

    it("embeds one text and several, as numbers and in base64", () => {
      const one = seen.value("embeddings.create");
      expect(one).toMatchObject({ object: "list", model: "scripted-embedding" });
      const { embedding } = one.data[0];
      expect(embedding).toHaveLength(64);
      const [first, second] = seen.value("embeddings.create several");
      expect(first).toEqual(embedding);
      expect(second).not.toEqual(embedding);
      const bytes = Buffer.from(seen.value("embeddings.create base64"), "base64");
      expect([...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)]).toEqual(embedding);
    });

    it("is refused embeddings of nothing, by unknown models, and of tokens that no tokenizer knows", () => {
      refused("embeddings.create unknown model", "NotFoundError", { code: "model_not_found" });
      refused("embeddings.create nothing", "BadRequestError", { param: "input" });
      refused("embeddings.create tokens", "BadRequestError", { param: "input" });
    });

    it("gets a whole response, with its text and usage", () => {
      const response = seen.value("responses.create");
      expect(response).toMatchObject({
        id: expect.stringMatching(RESPONSE_ID),
        object: "response",
        status: "completed",
        model: tenants.agents.public,
        error: null,
        usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
        output: [{ type: "message", role: "assistant", status: "completed" }],
      });
      expect(seen.value("responses.create output_text")).toBe("You said: Hello there");
    });

    it("sends items with instructions and sampling, which the response repeats", () => {
      expect(seen.value("responses.create items")).toMatchObject({
        output_text: "You said: Hello items",
        instructions: "Be kind.",
        temperature: 0.5,
        top_p: 0.9,
        max_output_tokens: 200,
        truncation: "disabled",
        metadata: { topic: "greeting" },
      });
      expect(seen.value("responses.create by the configured model").output_text).toBe(
        "You said: Hello model",
      );
    });

    it("sends images and files", () => {
      expect(seen.value("responses.create image").output_text).toContain("Hello picture");
      expect(seen.value("responses.create file").status).toBe("completed");
    });

    it("gets a response again, with its input, and goes on from it", () => {
      const { id } = seen.value("responses.create");
      expect(seen.value("responses.retrieve")).toMatchObject({ id, status: "completed" });
      expect(seen.value("responses.input_items.list")).toMatchObject([
        { type: "message", role: "user", content: [{ type: "input_text", text: "Hello there" }] },
      ]);
      expect(seen.value("responses.create previous_response_id")).toMatchObject({
        previous_response_id: id,
        output_text: "You said: And again",
      });
      expect(JSON.stringify(seen.value("responses.input_items.list of a follow-up"))).toContain("And again");
      refused("responses.create store false", "NotFoundError");
    });

    it("streams the published sequence of events", () => {
      const events: Event[] = seen.value("responses.create stream");
      expect([...new Set(typesOf(events))]).toEqual(TEXT_EVENTS);
      expect(numbersOf(events)).toEqual(upTo(events.length));
      expect(textOf(events)).toBe("You said: Hello stream");
      const helper = seen.value("responses.stream");
      expect(helper.final.output_text).toBe("You said: Hello helper");
      expect(helper.types).toEqual(
        expect.arrayContaining(["response.output_text.delta", "response.completed"]),
      );
    });

    it("parses answers that a schema describes", () => {
      expect(seen.value("responses.parse")).toEqual(ANIMAL);
      expect(JSON.parse(seen.value("responses.create text.format").output_text)).toEqual(ANIMAL);
      refused("responses.create refused schema", "BadRequestError");
    });

    it("is called back for a function, and goes on from its output with and without a stored response", () => {
      expect(seen.value("responses.create function").output.at(-1)).toMatchObject({
        type: "function_call",
        name: "get_weather",
        arguments: '{"city":"Paris"}',
        call_id: expect.any(String),
        status: "completed",
      });
      expect(seen.value("responses.create function_call_output").output_text).toContain("sunny in Paris");
      expect(seen.value("responses.create function_call_output stateless").output_text).toContain(
        "rainy in Paris",
      );
      expect(seen.value("responses.create tool_choice").output.at(-1)).toMatchObject({ name: "get_weather" });
      expect(seen.value("responses.parse function")).toEqual({ city: "Paris" });
      expect(typesOf(seen.value("responses.create function streamed"))).toEqual(
        expect.arrayContaining([
          "response.function_call_arguments.delta",
          "response.function_call_arguments.done",
          "response.completed",
        ]),
      );
    });

    it("is refused the output of a call that was never made", () => {
      refused("responses.create output of no call", "BadRequestError");
      refused("responses.create output of no call after a response", "BadRequestError");
    });

    it("searches a store, shows what was found where that is included, and cites the file", () => {
      const file = seen.value("vector_stores.files.upload_and_poll").id;
      const { output, output_text } = seen.value("responses.create file_search");
      expect(output_text).toBe(FOX_ANSWER);
      const search = output.find(({ type }: { type: string }) => type === "file_search_call");
      expect(search).toMatchObject({
        status: "completed",
        queries: [expect.stringContaining("fox")],
        results: [{ file_id: file, filename: "fox.md", attributes: { kind: "fox" } }],
      });
      const [part] = output.at(-1).content;
      expect(part.annotations).toMatchObject([{ type: "file_citation", file_id: file, filename: "fox.md" }]);
      const [bare] = seen.value("responses.create file_search without results").output;
      expect(bare.results ?? null).toBeNull();
      refused("responses.create file_search of another", "NotFoundError");
    });

    it("streams a search and its annotations", () => {
      expect(typesOf(seen.value("responses.create file_search streamed"))).toEqual(
        expect.arrayContaining([
          "response.file_search_call.in_progress",
          "response.file_search_call.searching",
          "response.file_search_call.completed",
          "response.output_text.annotation.added",
          "response.completed",
        ]),
      );
    });

    it("runs a response in the background, and follows its stream from where it left it", () => {
      expect(["queued", "in_progress"]).toContain(seen.value("responses.create background").status);
      expect(seen.value("responses.retrieve background").status).toBe("completed");
      const { first, rest } = seen.value("responses.retrieve stream") as { first: Event[]; rest: Event[] };
      const whole = [...first, ...rest];
      expect(numbersOf(whole)).toEqual(upTo(whole.length));
      expect(textOf(whole)).toBe(
        upTo(20)
          .map((number) => `${number} `)
          .join(""),
      );
      expect(rest.at(-1)?.type).toBe("response.completed");
    });

    it("cancels a response in the background once or twice, and no other", () => {
      expect(seen.value("responses.cancel").status).toBe("cancelled");
      expect(seen.value("responses.cancel again").status).toBe("cancelled");
      expect(seen.value("responses.retrieve cancelled").status).toBe("cancelled");
      refused("responses.cancel of no background", "BadRequestError");
    });

    it("is refused with the classes that OpenAI's service has its client raise", () => {
      refused("responses.create unknown model", "NotFoundError", { code: "model_not_found" });
      refused("responses.create conversation", "BadRequestError", { param: "conversation" });
      refused("responses.create web_search", "BadRequestError", { param: expect.stringMatching(/^tools/) });
      refused("responses.create previous_response_id of another", "NotFoundError");
      refused("responses.create previous_response_id unknown", "NotFoundError");
      refused("responses.retrieve of another", "NotFoundError");
      refused("responses.create wrong key", "AuthenticationError", { code: "invalid_api_key" });
      refused("responses.create rate limit", "RateLimitError");
      refused("responses.create bad field", "BadRequestError", { param: "temperature" });
    });

    it("sees a stream that breaks off as failed", () => {
      const events: Event[] = seen.value("responses.create refused while streaming");
      expect(events.at(-1)).toMatchObject({
        type: "response.failed",
        response: { status: "failed", error: { code: expect.any(String) } },
      });
    });

    it("deletes a response, which is gone then", () => {
      seen.value("responses.delete");
      refused("responses.retrieve deleted", "NotFoundError");
    });
  });
});
