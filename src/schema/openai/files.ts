/** `/v1/files`, as OpenAI's clients send and read it. */
import { z } from "zod";
import { field } from "../field.ts";
import { FilePart } from "../fields.ts";
import { FileIdInput, FileIdOutput } from "./ids.ts";
import { listOf, listQuery } from "./list.ts";

const MIN_SECONDS = 3_600;
const MAX_SECONDS = 2_592_000;
/** As many as OpenAI answers at once. */
const MAX_LISTED = 10_000;

export const MomentInSeconds = field.integer("Seconds since 1970", 1_767_225_600);

const PURPOSES = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"] as const;

export const FileUpload = z
  .object({
    file: FilePart,
    purpose: z.enum(PURPOSES).meta({
      description: "What it is for. Every file may be put into vector stores, whatever its purpose",
      example: "assistants",
    }),
    expires_after: z
      .object({
        anchor: z.literal("created_at").describe("The time of the upload"),
        seconds: z
          .int()
          .min(MIN_SECONDS)
          .max(MAX_SECONDS)
          .meta({ description: "An hour to 30 days", example: 86_400 }),
      })
      .optional()
      .meta({
        description:
          "When the file is deleted, with all documents that were made of it; as JSON, or in fields named " +
          "`expires_after[anchor]` and `expires_after[seconds]`",
        example: { anchor: "created_at", seconds: 86_400 },
      }),
  })
  .meta({ id: "FileUpload" });

export const FileObject = z
  .object({
    id: FileIdOutput,
    object: z.literal("file").describe("As OpenAI's clients expect it"),
    bytes: field.integer("Its size", 2_048),
    created_at: MomentInSeconds,
    expires_at: MomentInSeconds.nullable().describe("When it is deleted; null: never"),
    filename: field.text("Its name", "manual.pdf"),
    purpose: field.text("As it was uploaded", "assistants"),
    status: z.enum(["uploaded", "processed", "error"]).meta({
      description:
        "`processed` once it is stored; of a document by its latest run: `uploaded` while it is under way, " +
        "`error` if it failed",
      example: "processed",
    }),
  })
  .meta({ id: "FileObject" });

export const FileList = listOf(FileObject, "FileList");

export const FileDeleted = z
  .object({
    id: FileIdOutput,
    object: z.literal("file").describe("As OpenAI's clients expect it"),
    deleted: z.literal(true).describe("It is deleted"),
  })
  .meta({ id: "FileDeleted" });

export const FilesQuery = listQuery(FileIdInput, { max: MAX_LISTED, default: MAX_LISTED }).extend({
  purpose: z.string().max(64).optional().meta({ description: "Only files of this", example: "assistants" }),
});
