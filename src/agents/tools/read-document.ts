/** The tool that reads a document passage by passage. */
import { z } from "zod";
import { readKnownDocument } from "../../db/documents/passages.ts";
import { inTenant } from "../../db/pool.ts";
import { openedDocument } from "../../domain/tenancy/opened-content.ts";
import { withinBounds } from "../knowledge.ts";
import { defineTool } from "./define-tool.ts";

const PASSAGES_AT_ONCE = 40;

export const readDocument = defineTool({
  name: "read_document",
  description:
    "Reads one document from a passage on, as consecutive numbered passages. " +
    "Ids come from list_documents or knowledge_search.",
  args: z.object({
    document_id: z.guid().describe("The document's id."),
    from_chunk: z
      .number()
      .int()
      .min(0)
      .default(0)
      .describe("Index of the first passage to read; to read on, the last index seen plus one."),
  }),
  async run({ deps, scope, opened }, { document_id, from_chunk }) {
    const inScope = { spaceIds: scope.spaces.map((space) => space.id), folderIds: scope.folderIds };
    const document = await inTenant(deps.db, scope.organization, (sql) =>
      readKnownDocument(sql, inScope, document_id, { fromChunk: from_chunk, limit: PASSAGES_AT_ONCE }),
    );
    if (!document) return { type: "text", text: `There is no document ${document_id}.` };
    if (document.passages.length === 0) {
      const text =
        `The document has ${document.chunk_count} passages, numbered from 0; ` +
        `there is none from ${from_chunk} on.`;
      return { type: "text", text, documentIds: [document_id.toLowerCase()] };
    }
    await opened(openedDocument(document));
    return { type: "passages", passages: withinBounds(document.passages) };
  },
});
