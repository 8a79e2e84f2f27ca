/** The pages of OpenAI's lists: the entries that a page begins or ends at, and its answer. */
import type { Cursor, CursorPage, CursorRequest } from "../../../db/stores/cursor.ts";
import { DomainError } from "../../../domain/errors.ts";
import { encodeId, type PrefixedKind } from "../../../schema/openai/ids.ts";
import type { ListPage } from "../../../schema/openai/list.ts";

/** Looks up the entries that the query names. @throws DomainError `bad_request` if one is not there */
export async function cursorsOf(
  query: ListPage,
  find: (id: string) => Promise<Cursor | undefined>,
): Promise<CursorRequest> {
  const lookUp = async (param: "after" | "before"): Promise<Cursor | undefined> => {
    const id = query[param];
    if (id === undefined) return undefined;
    const found = await find(id);
    if (found === undefined)
      throw new DomainError("bad_request", `\`${param}\` does not match any entry of the list.`, { param });
    return { created_at: found.created_at, id: found.id };
  };
  const after = await lookUp("after");
  const before = await lookUp("before");
  return { limit: query.limit, order: query.order, after, before };
}

/** The answer of a list; `entries` are those of the page as they are answered. */
export function answerList<Entry extends { readonly id: string }>(
  kind: PrefixedKind,
  { hasMore }: Pick<CursorPage<unknown>, "hasMore">,
  entries: readonly Entry[],
) {
  const idOf = (entry: Entry | undefined): string | null => (entry ? encodeId(kind, entry.id) : null);
  return {
    object: "list" as const,
    data: [...entries],
    first_id: idOf(entries[0]),
    last_id: idOf(entries.at(-1)),
    has_more: hasMore,
  };
}
