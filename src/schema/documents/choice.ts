/** How a request chooses many documents: by their ids, or by their fields and folders. */
import { z } from "zod";
import { FolderId } from "../ids.ts";
import { documentFilters } from "./document.ts";

const MAX_IDS = 1_000;

export const documentChoice = () => ({
  document_ids: z
    .array(z.unknown())
    .min(1)
    .max(MAX_IDS)
    .nullish()
    .meta({
      description:
        "An element that is no id, unknown or not writable is answered in `results` and does not stop " +
        "the others",
      example: ["01900000-0000-7000-8000-000000000030"],
    }),
  filters: documentFilters(),
  folder_ids: z
    .array(FolderId)
    .min(1)
    .max(MAX_IDS)
    .nullish()
    .meta({
      description:
        "The documents of these folders and of all folders below, narrowed by `filters`; a folder out of " +
        "reach has none. Excludes `document_ids`",
      example: null,
    }),
});

interface Choice {
  readonly document_ids?: readonly unknown[] | null | undefined;
  readonly filters: readonly unknown[];
  readonly folder_ids?: readonly string[] | null | undefined;
}

/** Ids, or filters and folders; nothing at all would mean every document, which nobody means to ask. */
export function requireOneChoice(
  { document_ids: ids, filters, folder_ids: folders }: Choice,
  context: z.RefinementCtx,
): void {
  const hasIds = ids !== undefined && ids !== null;
  const hasFolders = folders !== undefined && folders !== null;
  if (!hasIds && !hasFolders && filters.length === 0)
    context.addIssue({
      code: "invalid_type",
      expected: "array",
      path: ["document_ids"],
      input: undefined,
      message: "missing",
    });
  const exclude = (field: string): void =>
    context.addIssue({
      code: "custom",
      path: [field],
      message: `document_ids and ${field} exclude each other`,
    });
  if (hasIds && filters.length > 0) exclude("filters");
  if (hasIds && hasFolders) exclude("folder_ids");
}
