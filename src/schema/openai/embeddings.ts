/** `POST /v1/embeddings`, as OpenAI's clients send and read it. */
import { z } from "zod";
import { field } from "../field.ts";

const TEXTS_MAX = 2_048;
const TOKENS_MAX = 8_192;
const CHARACTERS_MAX = 1_000_000;
const TOKEN_ID_MAX = 1_000_000;

const Text = z.string().min(1).max(CHARACTERS_MAX).meta({ description: "A text", example: "Gearbox oil" });
const Tokens = z.array(z.int().min(0).max(TOKEN_ID_MAX)).min(1).max(TOKENS_MAX);

export const EmbeddingRequest = z
  .object({
    input: z
      .union([Text, z.array(Text).min(1).max(TEXTS_MAX), Tokens, z.array(Tokens).min(1).max(TEXTS_MAX)])
      .refine((input) => charactersOf(input) <= CHARACTERS_MAX, {
        message: `must have at most ${CHARACTERS_MAX} characters in all`,
      })
      .meta({
        description:
          `A text, at most ${TEXTS_MAX} texts, or the same as token ids where the model's tokenizer is known; ` +
          `at most ${CHARACTERS_MAX} characters together`,
        example: "How often is the gearbox oil changed?",
      }),
    model: z.string().min(1).max(255).meta({
      description: "The name of the instance's embedding model, as `embedding_model` of a document shows it",
      example: "all-minilm-l6-v2-int8",
    }),
    dimensions: z.int().min(1).max(4_000).optional().meta({
      description: "The length of the vectors: the model's own, or less where the model can be shortened",
      example: 384,
    }),
    encoding_format: z
      .enum(["float", "base64"])
      .default("float")
      .meta({ description: "Numbers, or little-endian float32 in base64", example: "float" }),
    user: z.string().max(255).optional().meta({ description: "Accepted and not used", example: "user-1" }),
  })
  .meta({ id: "EmbeddingRequest" });

function charactersOf(input: string | readonly unknown[]): number {
  if (typeof input === "string") return input.length;
  return input.reduce<number>((sum, one) => sum + (typeof one === "string" ? one.length : 0), 0);
}

/** The numbers are the service's own: checking each of a million would hold up other requests. */
const Vector = z.custom<readonly number[] | string>().meta({
  override: { oneOf: [{ type: "array", items: { type: "number" } }, { type: "string" }] },
  description: "A vector of unit length, as `encoding_format` says",
  example: [0.6, -0.8],
});

export const EmbeddingList = z
  .object({
    object: z.literal("list").describe("As OpenAI's clients expect it"),
    data: z
      .array(
        z.object({
          object: z.literal("embedding").describe("As OpenAI's clients expect it"),
          index: field.integer("Which input it is of, from 0", 0),
          embedding: Vector,
        }),
      )
      .describe("A vector for each input, in their order"),
    model: field.text("The model", "all-minilm-l6-v2-int8"),
    usage: z
      .object({
        prompt_tokens: field.integer("Tokens of the inputs, as counted here", 8),
        total_tokens: field.integer("The same", 8),
      })
      .describe("What it took"),
  })
  .meta({ id: "EmbeddingList" });
