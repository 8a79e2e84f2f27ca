/** Lists as OpenAI's clients page through them: by the id of the entry that a page begins behind. */
import { z } from "zod";
import { field } from "../field.ts";

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;

interface ListBounds {
  readonly max?: number;
  readonly default?: number;
}

/**
 * The query of a list. `after` and `before` are ids as the list shows them.
 * @param cursor the schema of its ids, which gives their UUIDs.
 */
export function listQuery<Cursor extends z.ZodType>(cursor: Cursor, bounds: ListBounds = {}) {
  const { max = LIMIT_MAX, default: limit = LIMIT_DEFAULT } = bounds;
  return z.object({
    limit: z.int().min(1).max(max).default(limit).meta({ description: "Entries of a page", example: limit }),
    order: z
      .enum(["asc", "desc"])
      .default("desc")
      .meta({ description: "By the time of creation: oldest or newest first", example: "desc" }),
    after: cursor.optional().describe("The entry that the page begins behind"),
    before: cursor.optional().describe("The entry that the page ends before"),
  });
}

/** What a statement needs of such a query. At most one of `after` and `before` counts: `after`. */
export interface ListPage {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/** The answer of a list. @param name its component in the OpenAPI document. */
export function listOf<Item extends z.ZodType>(item: Item, name: string) {
  return z
    .object({
      object: z.literal("list").describe("As OpenAI's clients expect it"),
      data: z.array(item).describe("The entries of this page"),
      first_id: field.nullableText("The id of the first entry; null if there is none", null),
      last_id: field.nullableText(
        "The id of the last entry, which the next page's `after` takes; null if there is none",
        null,
      ),
      has_more: field.flag("Whether further entries come behind this page", false),
    })
    .meta({ id: name });
}

/**
 * The value of {@link listOf}.
 * @param found the entries of the page, and one more if there is one.
 * @param idOf the id of an entry as the list shows it.
 */
export function listPage<Entry>(
  found: readonly Entry[],
  { limit }: Pick<ListPage, "limit">,
  idOf: (entry: Entry) => string,
) {
  const data = found.slice(0, limit);
  const [first] = data;
  const last = data.at(-1);
  return {
    object: "list" as const,
    data,
    first_id: first === undefined ? null : idOf(first),
    last_id: last === undefined ? null : idOf(last),
    has_more: found.length > limit,
  };
}
