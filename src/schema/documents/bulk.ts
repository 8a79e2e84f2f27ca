/** Contract of moving and deleting many documents. */
import { z } from "zod";
import { field } from "../field.ts";
import { Deletion } from "../deletion.ts";
import { FolderId } from "../ids.ts";
import { documentChoice, requireOneChoice } from "./choice.ts";

const dryRun = z.boolean().default(false).meta({
  description: "True says what would happen, and changes nothing",
  example: false,
});

export const BatchMove = z
  .strictObject({
    ...documentChoice(),
    folder_id: FolderId.nullable().describe(
      "The folder to move them to, of their own space; null is the root of each one's space",
    ),
    dry_run: dryRun,
  })
  .superRefine(requireOneChoice)
  .meta({
    id: "BatchMove",
    example: { document_ids: ["01900000-0000-7000-8000-000000000030"], folder_id: null },
  });

export const BatchDelete = z
  .strictObject({ ...documentChoice(), dry_run: dryRun })
  .superRefine(requireOneChoice)
  .meta({
    id: "BatchDelete",
    example: { document_ids: ["01900000-0000-7000-8000-000000000030"], dry_run: true },
  });

export const BulkResult = z
  .object({
    document_id: z
      .unknown()
      .meta({ description: "As it was sent", example: "01900000-0000-7000-8000-000000000030" }),
    success: field.flag("Whether it was done, or would be", true),
    error: z
      .object({
        code: z.enum(["invalid_id", "not_found", "forbidden", "wrong_space"]).meta({
          description: "Why not; `wrong_space`: the folder is of another space",
          example: "not_found",
        }),
        message: field.text("The same for people", "Document not found"),
      })
      .nullable()
      .meta({ description: "What is wrong; null: nothing", example: null }),
  })
  .meta({ id: "BulkResult" });

const summary = (done: string) => ({
  total: z.int().min(0).meta({ description: "Documents that were asked for, each once", example: 1 }),
  accepted: z
    .int()
    .min(0)
    .meta({ description: `Those that ${done}, or would be`, example: 1 }),
  rejected: z.int().min(0).meta({ description: "Those that were not, each with its reason", example: 0 }),
  results: z
    .array(BulkResult)
    .describe(
      "In the order given, a repeated id once; for `filters` and `folder_ids` only what was rejected",
    ),
});

export const MovedDocuments = z.object(summary("were moved")).meta({ id: "MovedDocuments" });

export const DeletedDocuments = z
  .object({
    ...summary("were deleted"),
    deletion: Deletion.describe("What deleting the accepted documents also deletes"),
  })
  .meta({ id: "DeletedDocuments" });
