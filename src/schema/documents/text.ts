/** Contract of a document's text: its units, its chunks, and what is known of a chunk. */
import { z } from "zod";
import { field } from "../field.ts";
import { UNIT_TYPES } from "../../domain/text-unit.ts";
import { envelope, pageQuery, PARTS_PER_PAGE, Timestamp } from "../fields.ts";
import { ChunkId, DocumentId } from "../ids.ts";
import { Locations } from "../location.ts";

const PAGES =
  "page of a PDF or a picture, slide of a presentation or sheet of a spreadsheet, from 1; null: the format " +
  "has none";
const page = (what: string) => field.nullableInteger(`${what} this ${PAGES}`, 1);
export const PageStart = page("It begins on");
export const PageEnd = page("It ends on");

export const ChunkIndex = field.integer("Which chunk of the document's version it is, from 0", 3);
export const ChunkText = field.text("The chunk's text, as Markdown", "Revenue grew by 12 percent.");

export const ChunkStart = z
  .int()
  .min(0)
  .optional()
  .meta({
    description:
      "Where the chunk begins in the text that `GET /v1/data/{document_id}/text?format=markdown` answers, in UTF-16 " +
      "code units; absent in versions that were made before 0.9.0",
    example: 1204,
  });
export const ChunkEnd = z
  .int()
  .min(0)
  .optional()
  .meta({ description: "Where it ends there, exclusive", example: 1231 });

/** What the chunkers know of a chunk. Fields may be missing or added by later versions. */
export const ChunkMetadata = z
  .looseObject({
    format: z.enum(["text", "markdown"]).optional().meta({
      description: "`text`: only paragraphs; `markdown`: also lists, tables, code, quotes or headings",
      example: "text",
    }),
    word_count: z.int().min(0).optional().meta({
      description: "Words of the text: runs of characters between white space",
      example: 5,
    }),
    heading_text: field.optionalText(
      "The innermost heading above the chunk; absent: there is none",
      "Results",
    ),
    heading_path: z
      .array(z.string())
      .optional()
      .meta({
        description: "All headings above the chunk, outermost first; absent: there is none",
        example: ["Report", "Results"],
      }),
    language: field.optionalText(
      "The document's language as it says itself, BCP 47; absent: it does not",
      "en",
    ),
  })
  .meta({ id: "ChunkMetadata", description: "What is known of a chunk; later versions may add fields" });

const TextUnit = z
  .object({
    index: field.integer("Its place in the document, from 0", 0),
    type: z.enum(UNIT_TYPES).meta({ description: "What kind of block it is", example: "heading" }),
    text: field.text("The block as Markdown; a heading without its `#`", "Results"),
    page: page("It is on"),
    heading_path: z.array(z.string()).meta({
      description: "Headings it stands under, outermost first; that of a heading ends with itself",
      example: ["Results"],
    }),
    level: field.optionalInteger("Of a heading: 1 to 6", 1),
    start: field.optionalInteger("Offset of `text` in the whole text as Markdown, in UTF-16 code units", 2),
    end: field.optionalInteger("Where `text` ends, exclusive, in UTF-16 code units", 9),
    repeats: z
      .boolean()
      .optional()
      .meta({ description: "True for a running header or footer, which is in no chunk", example: false }),
    locations: Locations,
  })
  .meta({ id: "TextUnit" });

export const TextUnitPage = envelope(TextUnit, "TextUnitPage");
export const TextQuery = pageQuery(PARTS_PER_PAGE).extend({
  format: z
    .enum(["json", "markdown"])
    .default("json")
    .describe("`markdown` answers the whole text as `text/markdown`"),
});

const Chunk = z
  .object({
    id: ChunkId,
    document_id: DocumentId,
    chunk_index: ChunkIndex,
    text: ChunkText,
    token_count: field.integer("Tokens of the text, as the embedding model counts them", 7),
    page_start: PageStart,
    page_end: PageEnd,
    start: ChunkStart,
    end: ChunkEnd,
    locations: Locations,
    metadata: ChunkMetadata,
    embedding: z
      .object({
        model: field.nullableText(
          "The model of the vector; null before the chunks are embedded",
          "all-minilm-l6-v2-int8",
        ),
        dimensions: field.nullableInteger("Numbers in the vector", 384),
        embedded: field.flag(
          "Whether there is a vector. False also for a chunk of a finished document whose text the " +
            "provider refuses",
          true,
        ),
        embedded_at: Timestamp.nullable().describe("Since when; null: there is no vector"),
      })
      .describe("What is known of the chunk's vector"),
  })
  .meta({ id: "Chunk" });

export const ChunkPage = envelope(Chunk, "ChunkPage");
export const PartsQuery = pageQuery(PARTS_PER_PAGE);
export const ChunksQuery = PartsQuery.extend({
  version: z.int().min(1).max(2_147_483_647).optional().meta({
    description: "The version whose chunks are meant; default: the published one",
    example: 2,
  }),
});
