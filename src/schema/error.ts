/** The bodies of errors: `detail` as FastAPI has it, and `error` as OpenAI's clients read it. */
import { z } from "zod";
import { field } from "./field.ts";
import { ERROR_REASONS, type ErrorReason } from "../domain/errors.ts";

const REASONS = Object.keys(ERROR_REASONS).toSorted() as [ErrorReason, ...ErrorReason[]];

const ErrorCode = z.enum(REASONS).meta({
  id: "ErrorCode",
  description:
    "What went wrong, for programs. Each code has a page, at `doc_url`, with its cause and the way out. " +
    "Codes are only ever added",
  example: "document_not_found",
});

export const ErrorObject = z
  .object({
    message: field.text("What went wrong, for people; of several problems the first", "Document not found"),
    type: z
      .enum([
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "rate_limit_error",
        "server_error",
      ])
      .meta({
        description: "The kind of error, by the status: 401, 403, 429, 500 and above, and all others",
        example: "invalid_request_error",
      }),
    code: ErrorCode,
    param: field.nullableText(
      "The field of the request that is at fault, such as `messages[0].content`, if it is one",
      null,
    ),
    doc_url: field.text(
      "The page of the code",
      "https://holdfast.example.org/docs/errors/document_not_found",
    ),
  })
  .meta({ id: "ErrorObject" });

/** A failure without a list of problems. */
export const ErrorBody = z
  .object({
    detail: field.text("The same as `error.message`", "Document not found"),
    error: ErrorObject.describe("The same failure, as OpenAI's clients read it"),
  })
  .meta({ id: "Error" });

export const ValidationErrorBody = z
  .object({
    detail: z
      .array(
        z.object({
          loc: z.array(z.union([z.string(), z.int()])).meta({
            description: "Where it is: `body`, `query`, `path` or `header`, then names and indexes",
            example: ["body", "space_id"],
          }),
          msg: field.text("What is wrong, for people", "Field required"),
          type: field.text("What is wrong, in pydantic's terms", "missing"),
          input: z
            .unknown()
            .optional()
            .meta({ description: "What was sent there, shortened; never a secret", example: null }),
          ctx: z
            .record(z.string(), z.unknown())
            .optional()
            .meta({ description: "The bounds or values that it breaks", example: {} }),
        }),
      )
      .describe("All that is wrong with the request"),
    error: ErrorObject.describe("The first of the problems, as OpenAI's clients read it"),
  })
  .meta({ id: "ValidationError" });
