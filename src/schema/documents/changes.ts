/** Contract of what callers write: the form of an upload, and the change of a document. */
import { z } from "zod";
import { FilePart, StrictPart } from "../fields.ts";
import { FolderId, SpaceId } from "../ids.ts";
import { record } from "../requests/record.ts";

/** Members of a document's metadata that the service writes. */
export const SERVICE_METADATA: readonly string[] = ["original_filename", "content_type", "extracted"];
export const MAX_METADATA_CHARACTERS = 65_536;
/** No more keys fit into {@link MAX_METADATA_CHARACTERS}. */
const MAX_METADATA_KEYS = 10_000;
const MAX_TAGS = 100;
const MAX_TAG_CHARACTERS = 256;

/** What callers may write of a document's metadata. */
const writtenMetadata = () =>
  record(z.unknown(), MAX_METADATA_KEYS).superRefine((metadata, context) => {
    const own = Object.entries(metadata).filter(([key]) => !SERVICE_METADATA.includes(key));
    if (JSON.stringify(Object.fromEntries(own)).length > MAX_METADATA_CHARACTERS)
      context.addIssue({
        code: "custom",
        message: `must have at most ${MAX_METADATA_CHARACTERS} characters as JSON`,
      });
  });

/** What callers may write of the metadata of a new document. */
export const ownMetadata = () =>
  writtenMetadata().superRefine((metadata, context) => {
    for (const key of SERVICE_METADATA.filter((name) => Object.hasOwn(metadata, name)))
      context.addIssue({ code: "custom", path: [key], message: `${key} is read-only` });
  });

export const tagList = () => z.array(z.string().min(1).max(MAX_TAG_CHARACTERS)).max(MAX_TAGS);

/** The form of `POST /data/upload`: `api/body/uploads.ts` streams its file, `form.ts` checks its fields. */
export const DocumentUpload = z
  .object({
    file: FilePart,
    space_id: SpaceId.describe("The space that the document belongs to"),
    folder_id: FolderId.optional().describe("A folder of the space; without it the document is at the root"),
    doc_metadata: ownMetadata()
      .optional()
      .meta({
        description:
          "The document's own metadata, as JSON text: what `PATCH` takes, and what filters find as " +
          "`doc_metadata.<key>`",
        example: { project: "apollo" },
      }),
    tags: tagList()
      .optional()
      .meta({
        description:
          "Becomes `doc_metadata.tags`. The field may come more than once, or hold a JSON list; the filter " +
          "`doc_metadata.tags__contains` finds one of them",
        example: ["invoice", "2026"],
      }),
    strict: StrictPart,
  })
  .refine((form) => form.tags === undefined || form.doc_metadata?.["tags"] === undefined, {
    path: ["tags"],
    message: "tags and doc_metadata.tags exclude each other",
  })
  .meta({
    id: "DocumentUpload",
    example: {
      file: "(bytes)",
      space_id: "01900000-0000-7000-8000-000000000010",
      tags: ["invoice", "2026"],
    },
  });

export const DocumentPatch = z
  .object({
    doc_metadata: writtenMetadata()
      .optional()
      .meta({
        description:
          "JSON merge patch (RFC 7396): null removes a key. `original_filename`, `content_type` and `extracted` " +
          "are the service's, and may be sent back as they are: 422 otherwise",
        example: { project: "apollo", draft: null },
      }),
    folder_id: FolderId.nullable()
      .optional()
      .describe("The folder of the same space to move it to; null moves it to the root"),
  })
  .meta({ id: "DocumentPatch", example: { doc_metadata: { project: "apollo", draft: null } } });
