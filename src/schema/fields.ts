/** The parts that the contracts of several resources share: ids, timestamps, pages, people, errors. */
import { z } from "zod";
import { field } from "./field.ts";
import { OrganizationId, UserId } from "./ids.ts";
import { NOT_BLANK } from "./requests/patterns.ts";

/** Keeps offsets within a bigint; no list has so many pages. */
const MAX_PAGE = 1_000_000_000;

export { Uuid } from "./ids.ts";

/** A moment in an answer: takes a `Date` or an ISO string, gives ISO 8601 in UTC with milliseconds. */
export const Timestamp = z
  .union([z.date(), z.string()])
  .transform((value) => new Date(value).toISOString())
  .pipe(z.iso.datetime())
  .meta({ description: "ISO 8601, UTC, milliseconds", example: "2026-01-31T09:30:00.000Z" });

/**
 * Reads an ISO 8601 timestamp or date of a request. A date without a time means its midnight, and UTC is
 * meant if there is no offset.
 * @returns an ISO string in UTC with milliseconds, or null if `text` is not a moment of the years 1 to 9999.
 * @example parseTimestamp("2026-01-31") // "2026-01-31T00:00:00.000Z"
 */
export function parseTimestamp(text: string): string | null {
  const match =
    /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)([Zz]|[+-]\d{2}:?\d{2})?)?$/.exec(
      text,
    );
  if (match === null) return null;
  const [, date, time = "00:00", offset = "Z"] = match;
  const parsed = new Date(`${date}T${time}${offset.toUpperCase()}`);
  if (Number.isNaN(parsed.getTime()) || parsed.getUTCFullYear() < 1 || parsed.getUTCFullYear() > 9999)
    return null;
  const isRealDay = new Date(`${date}T00:00Z`).toISOString().startsWith(date ?? "");
  return isRealDay ? parsed.toISOString() : null;
}

const MAX_TIMESTAMP_CHARACTERS = 64;

/** A moment in a request: see {@link parseTimestamp}. */
export const TimestampInput = z
  .string()
  .max(MAX_TIMESTAMP_CHARACTERS)
  .transform((text, context) => {
    const parsed = parseTimestamp(text);
    if (parsed === null)
      context.issues.push({
        code: "invalid_format",
        format: "datetime",
        input: text,
        message: "not a timestamp",
      });
    return parsed ?? z.NEVER;
  })
  .meta({
    format: "date-time",
    description: "ISO 8601; UTC where it names no offset",
    example: "2026-01-31T09:30:00Z",
  });

export interface PageLimits {
  readonly max: number;
  readonly default: number;
}

/** For lists of resources. */
export const RESOURCES_PER_PAGE: PageLimits = { max: 100, default: 20 };
/** For lists of small parts, such as chunks, text units, versions, folders and files. */
export const PARTS_PER_PAGE: PageLimits = { max: 1_000, default: 100 };

/** The `page` (from 1) and `limit` of a query string. */
export function pageQuery(limits: PageLimits = RESOURCES_PER_PAGE) {
  return z.object({
    page: z.int().min(1).max(MAX_PAGE).default(1).meta({ description: "Page number, from 1", example: 1 }),
    limit: z
      .int()
      .min(1)
      .max(limits.max)
      .default(limits.default)
      .meta({ description: "Entries per page", example: limits.default }),
  });
}

const MAX_WAIT_SECONDS = 60;

export const WaitQuery = z.object({
  wait: z
    .int()
    .min(0)
    .max(MAX_WAIT_SECONDS)
    .default(0)
    .meta({
      description:
        "Seconds to wait for the next change of the state, if it has not ended yet; 0 answers at once. " +
        "A wait counts as one request, and as one of the streams that a key and a user may have open",
      example: 0,
    }),
});

export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

/** The pagination envelope around `item`. @param name its component in the OpenAPI document. */
export function envelope<Item extends z.ZodType>(item: Item, name: string) {
  return z
    .object({
      items: z.array(item).describe("Results of the current page"),
      total_items: field.integer("Hits over all pages", 1),
      total_pages: field.integer("Pages of `page_size` entries; 0 if there are none", 1),
      page: field.integer("Current page, from 1", 1),
      page_size: field.integer("Entries per page", 20),
    })
    .meta({ id: name });
}

/** The value of an {@link envelope} for one page of `items` out of `totalItems`. */
export function pageOf<Items>(
  { items, total }: { readonly items: Items; readonly total: number },
  { page, limit }: PageRequest,
) {
  return {
    items,
    total_items: total,
    total_pages: Math.ceil(total / limit),
    page,
    page_size: limit,
  };
}

export const AvatarUrl = field.nullableText("Where the user's picture is; null if there is none", null);

/** A person, as shown with what they made. */
export const Person = z
  .object({
    id: UserId,
    name: field.text("The display name", "Ada Example"),
    avatar_url: AvatarUrl,
  })
  .meta({ id: "Person", description: "A user, as shown with what they made" });

export const OwnOrganizationId = OrganizationId.describe(
  "The caller's own organization; any other one is answered 404",
);

/** A display name, which must not be blank. */
export const Name = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => text.trim() !== "", "must not be blank")
  .meta({ description: "The display name; not blank", example: "Research", pattern: NOT_BLANK });

/** The file of a multipart form, for the OpenAPI document; the form's parser streams and checks it. */
export const FilePart = z
  .custom<unknown>()
  .meta({ override: { type: "string", format: "binary" }, example: "(bytes)", description: "The file" });

/** The field `strict` of forms with a file. */
export const StrictPart = z
  .boolean()
  .optional()
  .meta({
    description:
      "True refuses a file that no parser will read, by its name and first bytes, and an empty one. " +
      "Otherwise such a document is accepted, and its run fails with the reason",
    example: true,
  });
