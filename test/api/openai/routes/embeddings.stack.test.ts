import OpenAI, { BadRequestError, NotFoundError } from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../../../support/stack/chat-harness.ts";

const MODEL = "scripted-embedding";

let chat: ChatHarness;
let client: OpenAI;

beforeAll(async () => {
  chat = await startChat();
  client = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: chat.key, maxRetries: 0 });
});
afterAll(() => chat.close());
beforeEach(() => chat.provider.reset());

const lengthOf = (vector: readonly number[]): number => Math.hypot(...vector);

describe("OpenAI's client", () => {
  it("embeds a text and a list of texts, as numbers and in base64, to the same vectors", async () => {
    const one = await client.embeddings.create({ model: MODEL, input: "one", encoding_format: "float" });
    // The library asks for base64 by itself, and reads it.
    const both = await client.embeddings.create({ model: MODEL, input: ["one", "two"] });
    expect(one).toMatchObject({ object: "list", model: MODEL, usage: { prompt_tokens: 1, total_tokens: 1 } });
    expect(both.data.map(({ index, object }) => [index, object])).toEqual([
      [0, "embedding"],
      [1, "embedding"],
    ]);
    expect(both.data[0]!.embedding).toEqual(one.data[0]!.embedding);
    expect(both.data[1]!.embedding).not.toEqual(one.data[0]!.embedding);
    expect(lengthOf(one.data[0]!.embedding)).toBeCloseTo(1, 5);
  });

  it("sends several hundred texts at once, as frameworks do", async () => {
    const input = Array.from({ length: 300 }, (_, index) => `Text number ${index}`);
    const { data } = await client.embeddings.create({ model: MODEL, input });
    expect(data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
  });

  it("is told the name of the model that there is", async () => {
    const asked = client.embeddings.create({ model: "text-embedding-3-small", input: "x" });
    await expect(asked).rejects.toMatchObject({ message: expect.stringContaining(MODEL) });
  });

  it("raises what it raises against OpenAI", async () => {
    const raised = (body: object) =>
      client.embeddings.create({ model: MODEL, input: "x", ...body }).catch((error: unknown) => error);
    expect(await raised({ model: "unknown" })).toMatchObject(
      Object.assign(Object.create(NotFoundError.prototype) as object, {
        code: "model_not_found",
        param: "model",
      }),
    );
    for (const [body, param] of [
      [{ input: "" }, "input"],
      [{ input: [] }, "input"],
      [{ input: [1, 2] }, "input"],
      [{ dimensions: 7 }, "dimensions"],
      [{ encoding_format: "hex" }, "encoding_format"],
    ] as const) {
      const error = await raised(body);
      expect(error).toBeInstanceOf(BadRequestError);
      expect((error as BadRequestError).param).toContain(param);
    }
  });

  it("is told which text the model refuses", async () => {
    chat.provider.poisonTexts((text) => (text === "bad" ? { status: 400 } : undefined));
    const refused = client.embeddings.create({ model: MODEL, input: ["good", "bad"] });
    await expect(refused).rejects.toMatchObject({ status: 400, param: "input[1]" });
    chat.provider.poisonTexts();
  });

  it("finds an agent as a model, and nothing else", async () => {
    const agent = await chat.addAgent({ name: "Librarian" });
    expect(await client.models.retrieve(agent)).toMatchObject({
      id: agent,
      object: "model",
      name: "Librarian",
    });
    for (const id of ["scripted-chat", "01999999-9999-7999-8999-999999999999"])
      await expect(client.models.retrieve(id)).rejects.toThrow(NotFoundError);
    const stranger = new OpenAI({
      baseURL: `${chat.url}/v1`,
      apiKey: await chat.makeKey({ spaces: [] }),
      maxRetries: 0,
    });
    await expect(stranger.models.retrieve(agent)).rejects.toThrow(NotFoundError);
  });
});
