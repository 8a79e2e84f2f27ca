/** The contract of what chat completions answer, whole and as a stream, as OpenAI's clients read it. */
import { z } from "zod";
import { field } from "../field.ts";
import { QUOTE_MAX } from "../../domain/work/turn.ts";
import { ErrorObject } from "../error.ts";
import { ChunkId, DocumentId } from "../ids.ts";
import { Locations } from "../location.ts";

const Usage = z
  .object({
    prompt_tokens: field.integer("Tokens that the model has read, over all its calls in this turn", 412),
    completion_tokens: field.integer("Tokens that it has written", 38),
    total_tokens: field.integer("The sum of both", 450),
  })
  .meta({ id: "Usage" });

const JWS = "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIwMTkwIn0.c2lnbmF0dXJl";

/** What stands behind a mark, or behind a citation by its best mark. */
export const evidence = {
  quote: z
    .string()
    .max(QUOTE_MAX)
    .optional()
    .meta({
      description:
        "The words of the source that carry the statement before the mark, exactly as the chunk has them. Absent " +
        "if it has none of them, or if the chunk is not published any more",
      example: "Revenue grew by 12 percent.",
    }),
  quote_start: field.optionalInteger("Where the quote begins in the chunk's text, in UTF-16 units", 0),
  quote_end: field.optionalInteger("Where it ends, in UTF-16 units", 27),
  support: z
    .enum(["strong", "weak"])
    .optional()
    .meta({
      description:
        "`weak`: too few words of the statement are in the chunk, or a number of it is not. Judged by words alone: " +
        "`strong` is no proof that the statement is right, and an answer in another language than its source is `weak`",
      example: "strong",
    }),
  receipt: field.optionalText(
    "A compact JWS that tells later whether the quote still stands there. It holds hashes and no text. Absent " +
      "without a quote",
    JWS,
  ),
  salt: field.optionalText(
    "What the hashes of the receipt are salted with: keep it with the quote",
    "c2FsdHNhbHRzYWx0c2FsdA",
  ),
};

export const citedChunk = {
  document_id: DocumentId,
  chunk_id: ChunkId,
  chunk_index: field.integer("Which chunk of the document it is, from 0", 3),
  page: field.nullableInteger(
    "The page, slide or sheet that the chunk begins on, from 1; null: the format has none",
    2,
  ),
  document_version: field.optionalInteger(
    "The version of the document that has the chunk; absent if the chunk is not published any more",
    1,
  ),
  locations: Locations.meta({
    description:
      "Where the quote stands in the file; if that is unknown, where its chunk does; absent: unknown",
    example: [{ page: 2, boxes: [[0.12, 0.31, 0.88, 0.33]] }],
  }),
};

const Citation = z
  .object({
    index: field.integer("The n of the mark [n]", 1),
    document_name: field.text("The document's file name", "report.pdf"),
    text: field.text("The chunk's text", "Revenue grew by 12 percent."),
    ...citedChunk,
    ...evidence,
  })
  .meta({ id: "Citation" });

export const statement = {
  sentence_start: field.optionalInteger(
    "Where the statement before the mark begins in `content`, in UTF-16 units",
    0,
  ),
  sentence_end: field.optionalInteger("Where it ends, in UTF-16 units", 22),
};

const Annotation = z
  .object({
    type: z.literal("url_citation").describe("There are no other annotations"),
    url_citation: z
      .object({
        start_index: field.integer("Where the mark [n] begins in `content`, in UTF-16 units", 23),
        end_index: field.integer("Where it ends, in UTF-16 units", 26),
        title: field.text("The document's name", "report.pdf"),
        url: field.text(
          "Where the cited chunk can be read, with the same credentials",
          "https://holdfast.example.org/v1/data/01900000-0000-7000-8000-000000000030/chunks?page=4&limit=1",
        ),
      })
      .describe("What the mark cites"),
    ...statement,
    ...evidence,
  })
  .meta({ id: "Annotation" });

const annotations = z
  .array(Annotation)
  .optional()
  .describe(
    "The same sources as `citations`, where OpenAI's clients look: one for each mark and source, in the " +
      "order of the text. Where the agent shows citations",
  );

const removedCitations = field.optionalInteger(
  "How many sources were taken out of marks because they do not support the statement; for agents with " +
    "`require_support`",
  1,
);

const always = (description: string) => z.null().describe(description);
const FINISH =
  "Why the text ends: `stop`: it is whole; `length`: at the bound of tokens; or as the model's provider says";

const completion = {
  id: field.text(
    "The turn's id: `chatcmpl-` and more; all chunks of a stream have the same",
    "chatcmpl-01900000",
  ),
  created: field.integer("When the turn began, in Unix seconds", 1_790_000_000),
  model: field.text("The agent's UUID, as requested", "01900000-0000-7000-8000-000000000020"),
  system_fingerprint: always("Always null, for OpenAI's clients"),
  service_tier: always("Always null, for OpenAI's clients"),
};

export const ChatCompletion = z
  .object({
    ...completion,
    object: z.literal("chat.completion").describe("As OpenAI's clients expect it"),
    choices: z
      .array(
        z.object({
          index: field.integer("Always 0", 0),
          message: z
            .object({
              role: z.literal("assistant").describe("Whose message it is"),
              content: field.text(
                "The answer; marks like [1] cite the source with that index",
                "It grew by 12 percent [1].",
              ),
              tool_calls: always("Always null: tools run inside the service"),
              refusal: always("Always null, for OpenAI's clients"),
              annotations,
            })
            .describe("The agent's answer"),
          finish_reason: field.text(FINISH, "stop"),
          logprobs: always("Always null, for OpenAI's clients"),
        }),
      )
      .describe("The answer, alone"),
    usage: Usage.describe("The tokens of all calls of the model in this turn"),
    citations: z
      .array(Citation)
      .optional()
      .describe("The sources that the answer cites; where the agent shows citations"),
    removed_citations: removedCitations,
  })
  .meta({ id: "ChatCompletion" });

const ToolProgress = z
  .object({
    id: field.text("The call; its begin and its end have the same", "call_1"),
    name: field.text("The tool, as its model calls it", "knowledge_search"),
    status: z
      .enum(["running", "done", "failed"])
      .meta({ description: "`failed`: the model was told why, and goes on", example: "done" }),
  })
  .meta({ id: "ToolProgress" });

export const ChatCompletionChunk = z
  .object({
    ...completion,
    object: z.literal("chat.completion.chunk").describe("As OpenAI's clients expect it"),
    choices: z
      .array(
        z.object({
          index: field.integer("Always 0", 0),
          delta: z
            .object({
              role: z.literal("assistant").optional().describe("In the first chunk alone"),
              content: field.optionalText(
                "The next piece of the answer, to be added to those before",
                "It grew",
              ),
              annotations,
            })
            .describe("What this chunk adds to the answer"),
          finish_reason: field.nullableText(`${FINISH}. Null until the last piece`, null),
          logprobs: always("Always null, for OpenAI's clients"),
        }),
      )
      .describe("The answer, alone; empty in chunks that have `usage` or `tools`"),
    usage: Usage.nullable().describe("Null except in the final chunk, where usage was asked for"),
    citations: z.array(Citation).optional().describe("In the last content chunk"),
    tools: z
      .array(ToolProgress)
      .optional()
      .describe(
        "Tools that begin or have ended; with `include_tools`, and not where an answer is read once more",
      ),
    removed_citations: removedCitations,
  })
  .meta({ id: "ChatCompletionChunk" });

/** The last event of a stream that fails after its first byte; no `[DONE]` follows. */
export const ChatStreamError = z
  .object({ error: ErrorObject.describe("Why the answer breaks off") })
  .meta({ id: "ChatStreamError" });
