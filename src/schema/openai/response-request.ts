/**
 * The contract of requests for responses. What an item or a tool must have in detail is checked where it is
 * used, so that a refusal names the field.
 * @see https://platform.openai.com/docs/api-reference/responses/create
 */
import { z } from "zod";
import { record, withFewKeys } from "../requests/record.ts";
import { ResponseIdInput } from "./ids.ts";
import { listQuery } from "./list.ts";

const MAX_ITEMS = 2_000;
const MAX_FIELDS = 32;
const MAX_TOOLS = 128;
const MAX_TOKENS = 2_000_000;
/** As many as the bytes of a body. */
const MAX_CHARACTERS = 4 * 1_024 * 1_024;
const METADATA_MAX = 16;

const longText = z.string().max(MAX_CHARACTERS);
const shortText = z.string().max(256);

const typed = (description: string, example: string) => ({
  properties: {
    type: { type: "string", maxLength: 64, description, example },
  },
  additionalProperties: {},
});

const InputItem = withFewKeys(
  z.looseObject({ type: z.string().max(64).optional() }),
  MAX_FIELDS,
  typed(
    "`message` (also if absent), `function_call`, `function_call_output`, `item_reference`; `reasoning`, " +
      "`file_search_call` and the calls of other hosted tools are passed over",
    "message",
  ),
);

const Tool = withFewKeys(
  z.looseObject({ type: z.string().max(64) }),
  MAX_FIELDS,
  typed("`function` or `file_search`; other tools are refused", "file_search"),
);

/** A field that is refused if it is there: the answer would not be what was asked for. */
const refused = (description: string, example: unknown) =>
  z
    .unknown()
    .optional()
    .meta({ description: `Not there: 400 unless it is null. ${description}`, example });

const accepted = (description: string, example: string) =>
  shortText.nullish().meta({ description: `${description}. Accepted and given back`, example });

const penalty = z.number().min(-2).max(2).nullish();

const Metadata = record(z.string().max(512), METADATA_MAX, {
  additionalProperties: { type: "string", maxLength: 512 },
})
  .superRefine((metadata, context) => {
    for (const key of Object.keys(metadata))
      if (key.length > 64)
        context.addIssue({
          code: "custom",
          path: [key.slice(0, 64)],
          message: "a key has at most 64 characters",
          input: key.slice(0, 64),
        });
  })
  .describe("At most 16 pairs; keys of 64 characters, values of 512");

const Format = withFewKeys(
  z.looseObject({ type: z.enum(["text", "json_object", "json_schema"]) }),
  MAX_FIELDS,
  typed("`text`, `json_object`, or `json_schema` with `name`, `schema`, `strict`", "text"),
);

const INCLUDABLE = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
] as const;

const Include = z
  .array(z.enum(INCLUDABLE))
  .max(INCLUDABLE.length)
  .meta({
    description:
      "`file_search_call.results` shows what searches found; the others are accepted and have nothing to show",
    example: ["file_search_call.results"],
  });

const ToolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  withFewKeys(
    z.looseObject({ type: z.string().max(64) }),
    MAX_FIELDS,
    typed("`function` with `name`, `file_search`, or `allowed_tools` with `mode` and `tools`", "function"),
  ),
]);

export const ResponseRequest = z
  .object({
    model: z.string().min(1).max(255).meta({
      description: "The UUID of an agent, or the name of the instance's chat model",
      example: "01900000-0000-7000-8000-000000000020",
    }),
    input: z.union([longText, z.array(InputItem).max(MAX_ITEMS)]).meta({
      description: "A text of the user, or items",
      example: "How did revenue develop?",
    }),
    instructions: longText.nullish().meta({
      description: "A system message before the input; not carried over by `previous_response_id`",
      example: "Answer in one sentence.",
    }),
    stream: z.boolean().nullish().meta({ description: "True streams the events", example: false }),
    stream_options: z
      .object({
        include_obfuscation: z
          .boolean()
          .nullish()
          .meta({ description: "Accepted; events carry none", example: false }),
      })
      .nullish()
      .describe("For `stream: true`"),
    background: z.boolean().nullish().meta({
      description: "Answers at once with `status: queued`; needs `store`",
      example: false,
    }),
    store: z.boolean().nullish().meta({
      description: "False keeps nothing. Absent or null: true",
      example: true,
    }),
    previous_response_id: ResponseIdInput.nullish().describe(
      "A stored response of the same caller whose items come before this input",
    ),
    include: Include.nullish(),
    tools: z.array(Tool).max(MAX_TOOLS).nullish().describe("Besides the agent's own tools"),
    tool_choice: ToolChoice.nullish().meta({
      description: "Which tool the model calls first",
      example: "auto",
    }),
    parallel_tool_calls: z.boolean().nullish().meta({
      description: "Whether the model may call several tools at once. Absent or null: true",
      example: true,
    }),
    max_tool_calls: z.int().min(1).max(1_000).nullish().meta({
      description: "How many searches the response may make",
      example: 4,
    }),
    text: z
      .object({
        format: Format.nullish().describe("The form of the answer"),
        verbosity: z
          .enum(["low", "medium", "high"])
          .nullish()
          .meta({ description: "Passed on to the model", example: "medium" }),
      })
      .nullish()
      .describe("How the answer is written"),
    reasoning: z
      .object({
        effort: z
          .enum(["none", "minimal", "low", "medium", "high", "xhigh"])
          .nullish()
          .meta({ description: "Passed on to the model", example: "low" }),
        summary: shortText.nullish().meta({
          description: "Accepted; the model's reasoning is not shown",
          example: "auto",
        }),
      })
      .nullish()
      .describe("For models that reason"),
    max_output_tokens: z.int().min(1).max(MAX_TOKENS).nullish().meta({
      description: "The most tokens of each call of the model; beyond it the response is `incomplete`",
      example: 800,
    }),
    temperature: z.number().min(0).max(2).nullish().meta({ description: "Passed on", example: 0.2 }),
    top_p: z.number().min(0).max(1).nullish().meta({ description: "Passed on", example: 1 }),
    top_logprobs: z.int().min(0).max(20).nullish().meta({
      description: "Accepted; log probabilities are not there",
      example: 0,
    }),
    stop: z
      .union([z.string().max(256), z.array(z.string().max(256)).max(16)])
      .nullish()
      .meta({ description: "Passed on, though OpenAI's interface has it in chat alone", example: ["END"] }),
    seed: z.int().nullish().meta({ description: "Passed on, as `stop` is", example: 7 }),
    presence_penalty: penalty.meta({ description: "Passed on, as `stop` is", example: 0 }),
    frequency_penalty: penalty.meta({ description: "Passed on, as `stop` is", example: 0 }),
    truncation: z
      .enum(["auto", "disabled"])
      .nullish()
      .meta({
        description:
          "`auto` leaves out the oldest messages of a conversation that does not fit the model's context; " +
          "otherwise it is 400",
        example: "disabled",
      }),
    metadata: Metadata.nullish(),
    service_tier: shortText
      .nullish()
      .meta({ description: "Accepted; `default` is given back", example: "auto" }),
    user: accepted("Who asks, in the client's words", "user-1"),
    safety_identifier: accepted("Who asks, in the client's words", "user-1"),
    prompt_cache_key: accepted("For the provider's cache", "chat-1"),
    prompt_cache_retention: shortText.nullish().meta({ description: "Accepted", example: "24h" }),
    conversation: refused("Conversations are not stored", null),
    prompt: refused("Prompts are not stored: send `instructions`", null),
    context_management: refused("Nothing is compacted: `truncation: auto` leaves out", null),
  })
  .meta({
    id: "ResponseRequest",
    example: {
      model: "01900000-0000-7000-8000-000000000020",
      input: "How did revenue develop?",
    },
  });

export type ResponseBody = z.output<typeof ResponseRequest>;

const included = Include.optional();

export const ResponseQuery = z.object({
  stream: z.boolean().optional().meta({
    description: "True gives the events, from the first one",
    example: false,
  }),
  starting_after: z.int().min(0).max(100_000_000).optional().meta({
    description: "With `stream`: the number of the event behind which the stream goes on",
    example: 3,
  }),
  include_obfuscation: z.boolean().optional().meta({
    description: "Accepted; events carry none",
    example: false,
  }),
  include: included,
  "include[]": included,
});

export const InputItemsQuery = listQuery(z.string().max(128).meta({ example: "msg_01" })).extend({
  include: included,
  "include[]": included,
});
