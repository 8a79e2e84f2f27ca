/** Pages through the items that a response was asked with, and opens only those of the page. */
import { findInputPlaces, readItems } from "../../../../db/responses/items.ts";
import type { OrganizationRef } from "../../../../db/pool.ts";
import { DomainError } from "../../../../domain/errors.ts";
import type { ListPage } from "../../../../schema/openai/list.ts";
import type { ResponsesDeps } from "../deps.ts";
import { type KeptItem, listedItem } from "../input.ts";
import { digestOfId, openItems } from "../sealed.ts";

export interface InputPage {
  readonly items: readonly KeptItem[];
  readonly hasMore: boolean;
}

/** @throws DomainError `bad_request` if the list has no item that `after` or `before` names. */
export async function readInputPage(
  deps: ResponsesDeps,
  organization: OrganizationRef,
  id: string,
  query: ListPage,
): Promise<InputPage> {
  const cursors = (["after", "before"] as const).filter((param) => query[param] !== undefined);
  const digests = cursors.map((param) => digestOfId(query[param] ?? ""));
  const { count, characters, places } = await findInputPlaces(deps.db, organization, id, digests);
  const { from, to, isReversed, hasMore } = pageWithin(
    count,
    query,
    (param) => places[cursors.indexOf(param)] ?? null,
  );
  const items = await deps.sealing.seated(organization.id, characters, async () =>
    openItems<KeptItem>(
      deps,
      organization.id,
      await readItems(deps.db, organization, id, { isOutput: false, from, to }),
    ),
  );
  return { items: (isReversed ? items.toReversed() : items).map(listedItem), hasMore };
}

interface Places {
  readonly from: number;
  /** The first place after the page. */
  readonly to: number;
  readonly isReversed: boolean;
  readonly hasMore: boolean;
}

/** @param placeOf where the item is that a cursor names; null if there is none. */
function pageWithin(
  count: number,
  query: ListPage,
  placeOf: (param: "after" | "before") => number | null,
): Places {
  const isReversed = query.order === "desc";
  /** Counts from the begin of the list, as it is ordered. */
  const positionOf = (param: "after" | "before"): number | undefined => {
    if (query[param] === undefined) return undefined;
    const place = placeOf(param);
    if (place === null)
      throw new DomainError("bad_request", `The list has no entry that \`${param}\` names.`, { param });
    return isReversed ? count - 1 - place : place;
  };
  const after = positionOf("after");
  const before = positionOf("before");
  const first = after === undefined ? 0 : after + 1;
  const end = Math.max(first, before ?? count);
  // Alone, `before` asks for the items right before it.
  const isBehind = after === undefined && before !== undefined;
  const from = isBehind ? Math.max(first, end - query.limit) : first;
  const to = isBehind ? end : Math.min(end, first + query.limit);
  const hasMore = end - first > query.limit;
  return isReversed
    ? { from: count - to, to: count - from, isReversed, hasMore }
    : { from, to, isReversed, hasMore };
}
