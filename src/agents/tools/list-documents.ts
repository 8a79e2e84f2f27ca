/** The tool that lists the documents an agent may read. */
import { z } from "zod";
import { type ListedDocument, listKnownDocuments } from "../../db/documents/passages.ts";
import { inTenant } from "../../db/pool.ts";
import { fenceData } from "../sources.ts";
import { defineTool } from "./define-tool.ts";

const PAGE_SIZE = 50;

export const listDocuments = defineTool({
  name: "list_documents",
  description: `Lists documents with their ids, newest first, ${PAGE_SIZE} a page.`,
  args: z.object({
    name_contains: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe("Only documents whose name contains this, in any case."),
    page: z.number().int().min(1).max(1_000).default(1),
  }),
  async run({ deps, scope }, { name_contains, page }) {
    const inScope = { spaceIds: scope.spaces.map((space) => space.id), folderIds: scope.folderIds };
    const filter = { nameContains: name_contains ?? null, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
    const documents = await inTenant(deps.db, scope.organization, (sql) =>
      listKnownDocuments(sql, inScope, filter),
    );
    return { type: "text", text: showDocuments(documents, page), documentIds: documents.map(({ id }) => id) };
  },
});

/** Shows the list to the model. The names are data: whoever uploads a document chooses its name. */
export function showDocuments(documents: readonly ListedDocument[], page: number): string {
  const head = `${documents[0]?.total ?? 0} documents in all; page ${page} has ${documents.length}.`;
  const lines = documents.map(({ id, name, file_type, updated_at }) =>
    JSON.stringify({ id, name, file_type, updated_at }),
  );
  return lines.length === 0 ? head : `${head} ${fenceData(lines.join("\n"))}`;
}
