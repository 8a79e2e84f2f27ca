/**
 * The contract of responses as they are answered.
 * @see https://platform.openai.com/docs/api-reference/responses/object
 */
import { z } from "zod";
import { field } from "../field.ts";
import { citedChunk, evidence, statement } from "../chat/completion.ts";
import { listOf } from "./list.ts";

const text = (description: string, example: string) => field.text(description, example);
const count = (description: string, example: number) => field.integer(description, example);

const STATUS = z.enum(["in_progress", "completed", "incomplete"]).meta({
  description: "`incomplete`: it was cut off",
  example: "completed",
});

export const FileCitation = z
  .object({
    type: z.literal("file_citation").describe("There are no other annotations"),
    file_id: text("The file: the document's id in OpenAI's form", "file-01900000000070008000000000000030"),
    filename: text("The document's name", "report.pdf"),
    index: count("Where the mark [n] begins in the text, in UTF-16 units", 23),
    number: count("The n of the mark", 1),
    start_index: count("As `index`", 23),
    end_index: count("Where the mark ends", 26),
    ...citedChunk,
    ...statement,
    ...evidence,
  })
  .meta({ id: "FileCitation" });

export const OutputText = z.object({
  type: z.literal("output_text").describe("There is no other content"),
  text: text("The answer; marks like [1] cite sources", "It grew by 12 percent [1]."),
  annotations: z.array(FileCitation).describe("One for each mark and source, in the order of the text"),
  logprobs: z.array(z.unknown()).meta({ description: "Always empty", example: [] }),
});

export const Message = z
  .object({
    type: z.literal("message").describe("What the model says"),
    id: text("The item", "msg_01900000000070008000000000000026"),
    status: STATUS,
    role: z.literal("assistant").describe("Whose message it is"),
    content: z.array(OutputText).describe("One part; none where the message just begins"),
  })
  .meta({ id: "ResponseMessage" });

export const FunctionCall = z
  .object({
    type: z.literal("function_call").describe("A call of a function of the client"),
    id: text("The item", "fc_01900000000070008000000000000027"),
    status: STATUS,
    call_id: text("What the output of the function names", "call_1"),
    name: text("The function", "get_weather"),
    arguments: text("JSON, as far as the model kept to it", "{}"),
  })
  .meta({ id: "ResponseFunctionCall" });

export const SearchResult = z.object({
  file_id: text("The file", "file-01900000000070008000000000000030"),
  filename: text("The document's name", "report.pdf"),
  score: z.number().meta({ description: "From 0 to 1", example: 0.8 }),
  text: text("The passage", "Revenue grew by 12 percent."),
  attributes: z
    .record(z.string(), z.unknown())
    .meta({ description: "The attributes of the file in its store", example: {} }),
  document_id: text("The document's id elsewhere in this API", "01900000-0000-7000-8000-000000000030"),
  chunk_id: text("The chunk", "01900000-0000-7000-8000-000000000031"),
  chunk_index: count("Which chunk of the document it is, from 0", 3),
  page: field.nullableInteger("The page that it begins on", 2),
});

export const FileSearchCall = z
  .object({
    type: z.literal("file_search_call").describe("A search of vector stores"),
    id: text("The item", "fs_01900000000070008000000000000028"),
    status: z
      .enum(["in_progress", "searching", "completed", "incomplete", "failed"])
      .meta({ description: "How far it is", example: "completed" }),
    queries: z.array(z.string()).meta({ description: "What the model searched for", example: ["revenue"] }),
    results: z
      .array(SearchResult)
      .nullable()
      .meta({ description: "With `include`: `file_search_call.results`; else null", example: null }),
  })
  .meta({ id: "ResponseFileSearchCall" });

const OutputItem = z.discriminatedUnion("type", [Message, FunctionCall, FileSearchCall]);

export const ResponseUsage = z
  .object({
    input_tokens: count("Tokens that the model has read, over all its calls", 412),
    input_tokens_details: z
      .object({
        cached_tokens: count("Of these, from the provider's cache", 0),
        cache_write_tokens: count("Always 0", 0),
      })
      .describe("As far as the provider says so"),
    output_tokens: count("Tokens that it has written", 38),
    output_tokens_details: z
      .object({ reasoning_tokens: count("Of these, for reasoning", 0) })
      .describe("As far as the provider says so"),
    total_tokens: count("The sum of both", 450),
  })
  .meta({ id: "ResponseUsage" });

/** The request's schema has checked it. */
const echo = <T>(example: T): z.ZodType<T, T> =>
  z.unknown().meta({ description: "As the request has it, or its default", example }) as z.ZodType<T, T>;

type Nullable<T> = T | null;

/** The fields that repeat the request, the same in all states of a response. */
export const ResponseEcho = z.object({
  instructions: echo<Nullable<string>>(null),
  max_output_tokens: echo<Nullable<number>>(null),
  max_tool_calls: echo<Nullable<number>>(null),
  metadata: echo<Record<string, string>>({}),
  model: echo("01900000-0000-7000-8000-000000000020"),
  parallel_tool_calls: echo(true),
  previous_response_id: echo<Nullable<string>>(null),
  prompt_cache_key: echo<Nullable<string>>(null),
  prompt_cache_retention: echo<Nullable<string>>(null),
  reasoning: echo<Record<"effort" | "summary", Nullable<string>>>({ effort: null, summary: null }),
  safety_identifier: echo<Nullable<string>>(null),
  service_tier: echo("default"),
  store: echo(true),
  temperature: echo(1),
  text: echo<Record<string, unknown>>({ format: { type: "text" } }),
  tool_choice: echo<unknown>("auto"),
  tools: echo<unknown[]>([]),
  top_logprobs: echo(0),
  top_p: echo(1),
  truncation: echo<"auto" | "disabled">("disabled"),
  user: echo<Nullable<string>>(null),
});

export const ResponseAnswer = z
  .object({
    id: text("The response", "resp_01900000000070008000000000000025"),
    object: z.literal("response").describe("As OpenAI's clients expect it"),
    created_at: count("When it was asked for, in Unix seconds", 1_790_000_000),
    completed_at: field.nullableInteger("When it was complete; else null", null),
    status: z
      .enum(["queued", "in_progress", "completed", "failed", "cancelled", "incomplete"])
      .meta({ description: "`incomplete`: `incomplete_details` says why", example: "completed" }),
    background: field.flag("Whether it goes on without its client", false),
    error: z
      .object({
        code: text("`server_error` or `rate_limit_exceeded`", "server_error"),
        message: text("What went wrong", "The model provider answered 500."),
      })
      .nullable()
      .describe("Set if it `failed`"),
    incomplete_details: z
      .object({ reason: text("`max_output_tokens` or `content_filter`", "max_output_tokens") })
      .nullable()
      .describe("Set if it is `incomplete`"),
    output: z.array(OutputItem).describe("Messages, searches and function calls, in order"),
    waiting_for: field.optionalText(
      "Set while a response in the background waits for an outage to end: its code. It is then tried again",
      "provider_unavailable",
    ),
    usage: ResponseUsage.nullable().describe("Null until it has ended"),
    ...ResponseEcho.shape,
  })
  .meta({ id: "Response" });

export const ResponseStreamEvent = z
  .object({
    type: text("The event's name, which its `event:` line repeats", "response.output_text.delta"),
    sequence_number: count("Its number in the response, from 0", 4),
    response: ResponseAnswer.optional().describe("What the response is by now"),
    output_index: count("Which item of `output` it is about, from 0", 0).optional(),
    item: OutputItem.optional().describe("The item that begins or ends"),
    item_id: text("The item", "msg_01900000000070008000000000000026").optional(),
    content_index: count("Which part of the item, from 0", 0).optional(),
    part: OutputText.optional().describe("The part that begins or ends"),
    annotation_index: count("Which annotation of the part, from 0", 0).optional(),
    annotation: FileCitation.optional().describe("The annotation"),
    delta: text("The next piece of a text or of arguments", "It grew").optional(),
    text: text("The text of a part that ends", "It grew by 12 percent [1].").optional(),
    logprobs: z.array(z.unknown()).optional().meta({ description: "Always empty", example: [] }),
    name: text("The function", "get_weather").optional(),
    arguments: text("The arguments of a call that ends", "{}").optional(),
  })
  .meta({
    id: "ResponseStreamEvent",
    example: {
      type: "response.output_text.delta",
      sequence_number: 4,
      item_id: "msg_01900000000070008000000000000026",
      output_index: 0,
      content_index: 0,
      delta: "It grew",
      logprobs: [],
    },
  });

export const ResponseStreamError = z
  .object({
    type: z.literal("error").describe("The last event of a stream that cannot go on"),
    sequence_number: count("Its number", 5),
    code: field.nullableText("As errors of this API name it", "turn_lost"),
    message: text("What went wrong", "The response was deleted."),
    param: field.nullableText("The field at fault, if it is one", null),
  })
  .meta({ id: "ResponseStreamError" });

export const DeletedResponse = z
  .object({
    id: text("The response", "resp_01900000000070008000000000000025"),
    object: z.literal("response").describe("As OpenAI's clients expect it"),
    deleted: z.literal(true).describe("It is gone"),
  })
  .meta({ id: "DeletedResponse" });

export const ResponseInputItems = listOf(
  z.looseObject({
    id: text("The item", "msg_01900000000070008000000000000026"),
    type: text("`message`, `function_call`, `function_call_output` and others", "message"),
  }),
  "ResponseInputItems",
);
