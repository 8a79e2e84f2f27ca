/** Contract of receipts: the keys that sign them, and what became of the words that they vouch for. */
import { z } from "zod";
import { field } from "./field.ts";
import { ChunkId, DocumentId, SpaceId } from "./ids.ts";
import { Locations } from "./location.ts";

/** More than any receipt has. */
const MAX_RECEIPT_TEXT = 8_192;
const MAX_QUOTE_CHARACTERS = 1_000;
const STATUSES = ["same", "superseded", "deleted", "not_reachable", "invalid"] as const;

const EXAMPLE_KID = "Zk3q0yUqf1mVb2dW8sTnRg";
const EXAMPLE_HASH = "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg";
const EXAMPLE_TURN = "01900000-0000-7000-8000-0000000000a0";
const EXAMPLE_QUOTE = "The notice period is 30 days.";

const ReceiptKey = z
  .object({
    kty: z.literal("OKP").meta({ description: "The kind of key (RFC 8037)", example: "OKP" }),
    crv: z.literal("Ed25519").meta({ description: "The curve", example: "Ed25519" }),
    alg: z.literal("EdDSA").meta({ description: "The algorithm of the signatures", example: "EdDSA" }),
    use: z.literal("sig").meta({ description: "It signs, and encrypts nothing", example: "sig" }),
    kid: field.text("Random; a receipt's header names the key that signed it", EXAMPLE_KID),
    x: field.text("The public key: 32 bytes in base64url", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"),
  })
  .meta({ id: "ReceiptKey" });

export const ReceiptKeySet = z
  .object({
    keys: z.array(ReceiptKey).describe("A JWK set (RFC 7517)"),
  })
  .meta({ id: "ReceiptKeySet" });

export const ReceiptKeyId = z
  .string()
  .max(64)
  .regex(/^[\w-]+$/)
  .meta({ description: "The key that a receipt's header names", example: EXAMPLE_KID });

const Base64Url = z
  .string()
  .min(16)
  .max(64)
  .regex(/^[\w-]+$/);

export const ReceiptQuestion = z
  .object({
    receipt: z.string().min(1).max(MAX_RECEIPT_TEXT).meta({
      description: "The receipt of a citation",
      example: "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiJ4In0.c2ln",
    }),
    quote: z
      .string()
      .min(1)
      .max(MAX_QUOTE_CHARACTERS)
      .nullish()
      .meta({
        description:
          "The words that it vouches for. With them and their salt the words themselves are compared, and " +
          "looked for in the published version if that is another one",
        example: EXAMPLE_QUOTE,
      }),
    salt: Base64Url.nullish().meta({
      description: "The salt that came with the quote; needed with `quote`",
      example: "mQ1v0dG3cE0Zl8nXoT5c2w",
    }),
  })
  .refine(({ quote, salt }) => isGiven(quote) === isGiven(salt), {
    message: "quote and salt are given together",
    path: ["salt"],
  })
  .meta({ id: "ReceiptQuestion" });

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

const ChunkIndex = field.integer("Which chunk of its version it is, from 0", 3);
const offset = (description: string, example: number) =>
  field.optionalInteger(`${description}; absent: it is not known`, example);
const Start = offset("Where the words begin in the document as Markdown, in UTF-16 code units", 1_204);
const End = offset("Where they end there, exclusive", 1_233);

const ReceiptLocation = z
  .object({
    page: field.optionalInteger("The page of a PDF or a picture, from 1", 4),
    boxes: z
      .array(z.array(z.number()))
      .optional()
      .meta({
        description:
          "A box for each line of text: left, top, right and bottom in fractions of the page, from its " +
          "upper left corner",
        example: [[0.12, 0.31, 0.61, 0.33]],
      }),
    slide: field.optionalInteger("The slide of a presentation, from 1", 2),
    range: field.optionalText("The cells of a table", "B2:D5"),
    lines: z
      .array(z.int())
      .optional()
      .meta({ description: "The first and the last line of the file, from 1", example: [12, 14] }),
  })
  .meta({
    id: "ReceiptLocation",
    description: "A place in the file by numbers alone: names of sheets and headings are text, and left out",
  });
const ReceiptLocations = z
  .array(ReceiptLocation)
  .optional()
  .describe("Where the words stand in the file; absent: it is not known");

const hash = (what: string) =>
  field.text(`HMAC-SHA-256 of ${what} in UTF-8 under the salt's bytes, in base64url`, EXAMPLE_HASH);

const Claims = z
  .object({
    jti: field.text("The receipt's own id; random", "q0yUqf1mVb2dW8sTnRgZk3"),
    iat: field.integer("When it was signed: seconds since 1970", 1_769_851_800),
    space: SpaceId,
    document: DocumentId,
    document_version: field.integer("The version that was cited, from 1", 1),
    chunk: ChunkId,
    chunk_index: ChunkIndex,
    turn: field.text("The turn whose answer has the citation", EXAMPLE_TURN),
    quote_start: field.integer("Where the quote begins in the chunk, in UTF-16 code units", 0),
    quote_end: field.integer("Where it ends there, exclusive", 29),
    start: Start,
    end: End,
    locations: ReceiptLocations,
    quote_hash: hash("the quote"),
    chunk_hash: hash("the chunk's text"),
    sentence_hash: hash("the answer's sentence"),
  })
  .meta({ id: "ReceiptClaims", description: "What the receipt says, as it was signed" });

const FoundWords = z
  .object({
    chunk_id: ChunkId.nullable().describe(
      "The first chunk that has all of the words; null: they stand across chunks",
    ),
    chunk_index: ChunkIndex.nullable(),
    quote_start: offset("Where the words begin in the chunk, in UTF-16 code units", 0),
    quote_end: offset("Where they end there, exclusive", 29),
    start: Start,
    end: End,
    locations: Locations,
  })
  .meta({ id: "FoundWords", description: "Where the words stand in the published version" });

export const ReceiptVerdict = z
  .object({
    status: z.enum(STATUSES).meta({
      description:
        "`same`: the published version has the chunk that was cited. `superseded`: another version is " +
        "published. `deleted`: the document is. `not_reachable`: the caller has no role in the space that " +
        "the receipt names. `invalid`: see `reason`",
      example: "same",
    }),
    reason: z
      .enum(["signature", "quote"])
      .optional()
      .meta({
        description:
          "Why it is `invalid`: `signature`: it was changed or cut, or no key of an organization has signed " +
          "it; `quote`: it does not vouch for these words. Absent for the others",
        example: "signature",
      }),
    claims: Claims.optional().describe("What the receipt says; absent if it is `invalid` or `not_reachable`"),
    current_version: z.int().nullish().meta({
      description: "The version that is published, of what is `same` or `superseded`; null: none is",
      example: 1,
    }),
    found: FoundWords.nullish().describe(
      "Of a quote that is `superseded`: where its words stand now; null: they are gone. Absent without a " +
        "quote, and if the document is too long to say that they are gone",
    ),
  })
  .meta({ id: "ReceiptVerdict" });
