/** The steps of `ask_responses.py` that need no agent: models and embeddings. */
import type OpenAI from "openai";
import type { Program } from "./steps.ts";

export interface Given {
  /** With `/v1`. */
  readonly base_url: string;
  readonly key: string;
  /** Of somebody in another organization. */
  readonly other_key: string;
  readonly space: string;
  readonly agent: string;
  readonly chat_model: string;
  readonly embedding_model: string;
}

interface On {
  readonly client: OpenAI;
  readonly given: Given;
  readonly step: Program["step"];
}

export async function embed({ client, given, step }: On): Promise<void> {
  const model = given.embedding_model;
  await step("models.list", async () => (await client.models.list()).data.map(({ id }) => id));
  await step("models.retrieve", () => client.models.retrieve(given.agent));
  await step("models.retrieve unknown", () => client.models.retrieve("gpt-4o"));
  const { embeddings } = client;
  await step("embeddings.create", () => embeddings.create({ model, input: "one fox" }));
  await step("embeddings.create several", async () => {
    const input = ["one fox", "two owls"];
    const { data } = await embeddings.create({ model, input, encoding_format: "float" });
    return data.map(({ embedding }) => embedding);
  });
  await step("embeddings.create base64", async () => {
    const { data } = await embeddings.create({ model, input: "one fox", encoding_format: "base64" });
    return data[0]?.embedding;
  });
  await step("embeddings.create unknown model", () =>
    embeddings.create({ model: "text-of-nobody", input: "one fox" }),
  );
  await step("embeddings.create nothing", () => embeddings.create({ model, input: [] }));
  await step("embeddings.create tokens", () => embeddings.create({ model, input: [[1, 2, 3]] }));
}
