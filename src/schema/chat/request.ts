/**
 * The contract of requests for chat completions. Fields of OpenAI's that are not named here are accepted and
 * ignored.
 * @see https://platform.openai.com/docs/api-reference/chat
 */
import { z } from "zod";
import { withFewKeys } from "../requests/record.ts";

const MAX_MESSAGES = 2_000;
const MAX_TOKENS = 2_000_000;
const MAX_PARTS = 1_000;
/** As many as the bytes of a body, which bound text and pictures (as data: URLs) together. */
const MAX_CONTENT_CHARACTERS = 4 * 1_024 * 1_024;
const MAX_FORMAT_FIELDS = 16;
const MAX_FORMAT_NAME = 64;

const longText = z.string().max(MAX_CONTENT_CHARACTERS);

const TextPart = z.object({
  type: z.literal("text").describe("A part that is text"),
  text: longText.meta({
    description: "The text; those of all parts are joined",
    example: "What is in this picture?",
  }),
});
const ImagePart = z.object({
  type: z.literal("image_url").describe("A part that is a picture"),
  image_url: z
    .object({
      url: longText.meta({
        description: "A `data:` URL, or an address that the model's provider can fetch",
        example: "data:image/png;base64,iVBORw0KGgo=",
      }),
      detail: z.enum(["auto", "low", "high"]).nullish().meta({
        description: "How closely the model looks; absent or null: as it decides itself",
        example: "auto",
      }),
    })
    .describe("The picture, which the service passes on to the model unread"),
});
const RefusalPart = z.object({
  type: z.literal("refusal").describe("A part that is a model's refusal of an earlier turn"),
  refusal: longText.meta({
    description: "The refusal; it counts as text",
    example: "I cannot help with that.",
  }),
});
/** Other parts, such as audio, are refused and not dropped: the answer would miss what was asked. */
const ContentPart = z
  .discriminatedUnion("type", [TextPart, ImagePart, RefusalPart])
  .meta({ id: "ContentPart" });

const content = z.union([longText, z.array(ContentPart).max(MAX_PARTS)]).meta({
  description: "A string, or parts of which the texts are joined",
  example: "How did revenue develop?",
});

const withContent = (...roles: ("system" | "developer" | "user")[]) =>
  z.object({
    role: z
      .enum(roles)
      .describe(
        roles.includes("user")
          ? "What the person asks"
          : "Instructions for the model; `developer` counts as `system`",
      ),
    content,
  });

/**
 * `developer` counts as `system`, and messages of role `tool` are ignored. The content of an assistant's
 * message may be absent, because OpenAI's clients send tool calls in its place.
 */
export const ChatMessage = z
  .discriminatedUnion("role", [
    withContent("system", "developer"),
    withContent("user"),
    z.object({
      role: z.literal("assistant").describe("What the agent answered before"),
      content: content.nullish(),
    }),
    z.object({
      role: z.literal("tool").describe("Accepted and ignored: tools run inside the service"),
      content: z.unknown().optional().meta({ description: "Accepted and ignored", example: "2 hits" }),
    }),
  ])
  .meta({ id: "ChatMessage", example: { role: "user", content: "How did revenue develop?" } });

const ignored = (example: unknown) =>
  z.unknown().optional().meta({ description: "Accepted and ignored", example });

export const ChatCompletionRequest = z
  .object({
    model: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: "The UUID of an agent", example: "01900000-0000-7000-8000-000000000020" }),
    messages: z
      .array(ChatMessage)
      .min(1)
      .max(MAX_MESSAGES)
      .meta({
        description:
          "The full history, oldest first, with every call: nothing of a chat is stored. What does not fit " +
          "the model's context is left out, the oldest first; `X-Dropped-Messages` says how many",
        example: [{ role: "user", content: "How did revenue develop?" }],
      }),
    stream: z.boolean().nullish().meta({ description: "True streams server-sent events", example: false }),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullish()
      .meta({ description: "Overrides the agent's; absent or null: the agent's own", example: 0.2 }),
    max_tokens: z.int().min(1).max(MAX_TOKENS).nullish().meta({
      description: "The most tokens of the answer; absent or null: the agent's own bound",
      example: 800,
    }),
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
        properties: {
          type: {
            type: "string",
            maxLength: MAX_FORMAT_NAME,
            description: "Which form the answer should have",
            example: "json_object",
          },
        },
        required: ["type"],
        additionalProperties: {},
      },
    )
      .nullish()
      .describe("`{type: json_object}` is passed to the model and not enforced"),
    stream_options: z
      .object({
        include_usage: z.boolean().nullish().meta({
          description: "True sends `usage` in the last chunk",
          example: true,
        }),
        include_tools: z.boolean().nullish().meta({
          description: "True sends a chunk with `tools` and without `choices` when tools begin and end",
          example: false,
        }),
      })
      .nullish()
      .describe("For `stream: true` alone"),
    top_p: ignored(1),
    stop: ignored(["END"]),
    presence_penalty: ignored(0),
    frequency_penalty: ignored(0),
    seed: ignored(7),
    n: ignored(1),
    logit_bias: ignored({ "50256": -100 }),
  })
  .meta({
    id: "ChatCompletionRequest",
    example: {
      model: "01900000-0000-7000-8000-000000000020",
      messages: [{ role: "user", content: "How did revenue develop?" }],
      stream: false,
    },
  });
