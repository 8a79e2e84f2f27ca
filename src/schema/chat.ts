/**
 * The contract of chat completions. Fields of OpenAI's that are not named here are accepted and ignored.
 * @see https://platform.openai.com/docs/api-reference/chat
 */
import { z } from "zod";
import { ErrorObject } from "./error.ts";
import { Uuid } from "./fields.ts";
import { withFewKeys } from "./requests/record.ts";

const MAX_MESSAGES = 2_000;
const MAX_TOKENS = 2_000_000;
const MAX_PARTS = 1_000;
/** As many as the bytes of a body, which bound text and pictures (as data: URLs) together. */
const MAX_CONTENT_CHARACTERS = 4 * 1_024 * 1_024;
const MAX_FORMAT_FIELDS = 16;
const MAX_FORMAT_NAME = 64;

const longText = z.string().max(MAX_CONTENT_CHARACTERS);

const TextPart = z.object({
  type: z.literal("text"),
  text: longText.meta({ example: "What is in this picture?" }),
});
const ImagePart = z.object({
  type: z.literal("image_url"),
  image_url: z.object({
    url: longText.meta({ example: "data:image/png;base64,iVBORw0KGgo=" }),
    detail: z.enum(["auto", "low", "high"]).nullish(),
  }),
});
const RefusalPart = z.object({
  type: z.literal("refusal"),
  refusal: longText.meta({ example: "I cannot help with that." }),
});
/**
 * Other parts, such as audio, are refused rather than dropped: the answer would not be about what was asked.
 */
const ContentPart = z
  .discriminatedUnion("type", [TextPart, ImagePart, RefusalPart])
  .meta({ id: "ContentPart" });

const content = z.union([longText, z.array(ContentPart).max(MAX_PARTS)]).meta({
  description: "A string, or parts of which the texts are joined",
  example: "How did revenue develop?",
});

const withContent = (...roles: ("system" | "developer" | "user")[]) =>
  z.object({ role: z.enum(roles), content });

/**
 * `developer` counts as `system`, and messages of role `tool` are ignored. The content of an assistant's
 * message may be absent, because OpenAI's clients send tool calls in its place.
 */
export const ChatMessage = z
  .discriminatedUnion("role", [
    withContent("system", "developer"),
    withContent("user"),
    z.object({ role: z.literal("assistant"), content: content.nullish() }),
    z.object({ role: z.literal("tool"), content: z.unknown().optional().meta({ example: "2 hits" }) }),
  ])
  .meta({ id: "ChatMessage" });

const ignored = (example: unknown) =>
  z.unknown().optional().meta({ description: "Accepted and ignored", example });

export const ChatCompletionRequest = z
  .object({
    model: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: "The UUID of an agent", example: "01900000-0000-7000-8000-000000000020" }),
    messages: z.array(ChatMessage).min(1).max(MAX_MESSAGES).meta({ description: "The full history" }),
    stream: z.boolean().nullish().meta({ description: "True streams server-sent events", example: false }),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullish()
      .meta({ description: "Overrides the agent's", example: 0.2 }),
    max_tokens: z
      .int()
      .min(1)
      .max(MAX_TOKENS)
      .nullish()
      .meta({ description: "Overrides the agent's", example: 800 }),
    max_completion_tokens: z
      .int()
      .min(1)
      .max(MAX_TOKENS)
      .nullish()
      .meta({ description: "The same as max_tokens", example: 800 }),
    response_format: withFewKeys(
      z.looseObject({ type: z.string().max(MAX_FORMAT_NAME) }),
      MAX_FORMAT_FIELDS,
      {
        properties: { type: { type: "string", maxLength: MAX_FORMAT_NAME, example: "json_object" } },
        required: ["type"],
        additionalProperties: {},
      },
    )
      .nullish()
      .meta({ description: "`{type: json_object}` is passed to the model and not enforced" }),
    stream_options: z.object({ include_usage: z.boolean().nullish().meta({ example: true }) }).nullish(),
    top_p: ignored(1),
    stop: ignored(["END"]),
    presence_penalty: ignored(0),
    frequency_penalty: ignored(0),
    seed: ignored(7),
    n: ignored(1),
    logit_bias: ignored({ "50256": -100 }),
  })
  .meta({ id: "ChatCompletionRequest" });

const Usage = z
  .object({
    prompt_tokens: z.int().meta({ example: 412 }),
    completion_tokens: z.int().meta({ example: 38 }),
    total_tokens: z.int().meta({ example: 450 }),
  })
  .meta({ id: "Usage" });

const Citation = z
  .object({
    index: z.int().meta({ description: "The n of the mark [n]", example: 1 }),
    document_id: Uuid,
    document_name: z.string().meta({ example: "report.pdf" }),
    chunk_id: Uuid,
    chunk_index: z.int().meta({ example: 3 }),
    page: z.int().nullable().meta({ example: 2 }),
    text: z.string().meta({ example: "Revenue grew by 12 percent." }),
  })
  .meta({ id: "Citation" });

const Annotation = z
  .object({
    type: z.literal("url_citation"),
    url_citation: z.object({
      start_index: z.int().meta({
        description: "Where the mark [n] begins in `content`, in UTF-16 units",
        example: 23,
      }),
      end_index: z.int().meta({ description: "Where it ends, in UTF-16 units", example: 26 }),
      title: z.string().meta({ description: "The document's name", example: "report.pdf" }),
      url: z.string().meta({
        description: "Where the cited chunk can be read, with the same credentials",
        example:
          "https://holdfast.example.org/v1/data/01900000-0000-7000-8000-000000000030/chunks?page=4&limit=1",
      }),
    }),
  })
  .meta({ id: "Annotation" });

const annotations = z
  .array(Annotation)
  .optional()
  .meta({
    description:
      "The same sources as `citations`, where OpenAI's clients look: one for each mark and source, in the " +
      "order of the text. Where the agent shows citations",
  });

const completion = {
  id: z.string().meta({ example: "chatcmpl-01900000" }),
  created: z.int().meta({ description: "Unix seconds", example: 1_790_000_000 }),
  model: z
    .string()
    .meta({ description: "The agent's UUID, as requested", example: "01900000-0000-7000-8000-000000000020" }),
  system_fingerprint: z.null(),
  service_tier: z.null(),
};

export const ChatCompletion = z
  .object({
    ...completion,
    object: z.literal("chat.completion"),
    choices: z.array(
      z.object({
        index: z.int().meta({ example: 0 }),
        message: z.object({
          role: z.literal("assistant"),
          content: z.string().meta({ example: "It grew by 12 percent [1]." }),
          tool_calls: z.null(),
          refusal: z.null(),
          annotations,
        }),
        finish_reason: z.string().meta({ example: "stop" }),
        logprobs: z.null(),
      }),
    ),
    usage: Usage,
    citations: z
      .array(Citation)
      .optional()
      .meta({ description: "The sources that the answer cites; where the agent shows citations" }),
  })
  .meta({ id: "ChatCompletion" });

export const ChatCompletionChunk = z
  .object({
    ...completion,
    object: z.literal("chat.completion.chunk"),
    choices: z.array(
      z.object({
        index: z.int().meta({ example: 0 }),
        delta: z.object({
          role: z.literal("assistant").optional(),
          content: z.string().optional().meta({ example: "It grew" }),
          annotations,
        }),
        finish_reason: z.string().nullable().meta({ example: null }),
        logprobs: z.null(),
      }),
    ),
    usage: Usage.nullable().meta({
      description: "Null except in the final chunk, where usage was asked for",
    }),
    citations: z.array(Citation).optional().meta({ description: "In the last content chunk" }),
  })
  .meta({ id: "ChatCompletionChunk" });

/** The last event of a stream that fails after its first byte; no `[DONE]` follows. */
export const ChatStreamError = z.object({ error: ErrorObject }).meta({ id: "ChatStreamError" });
