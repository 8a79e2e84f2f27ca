/** Finds items of stored responses, to which a request refers or which it gives back. */
import { callerIdOf } from "../../domain/tenancy/ownership.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { findResponsesOfItems, findSealedAnswer } from "../../db/responses/responses.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { ResponsesDeps } from "./deps.ts";
import { type OutputItem, uuidOfItem } from "./items.ts";
import { openResponse } from "./sealed.ts";
import { LOOK_MS, type ResponseStore, WRITTEN_WITHIN_MS, requireReached, wasJustMade } from "./store.ts";

export interface StoredItem {
  readonly item: OutputItem;
  /** Those that the model of its response was shown. */
  readonly documentIds: readonly string[];
  /** Its length as JSON. */
  readonly characters: number;
}

/** Undefined also for an item that the caller may not read, or whose key is gone. */
export type FindStoredItem = (itemId: string) => Promise<StoredItem | undefined>;

/**
 * Looks up at once which responses have the items. Each of these is opened when its first item is asked for, and of
 * it only the items of `itemIds` stay in memory.
 */
export async function findStoredItems(
  deps: ResponsesDeps,
  store: ResponseStore,
  principal: Principal,
  itemIds: readonly string[],
): Promise<FindStoredItem> {
  // Which of them it is of, only the written row says; nobody waits for long for what others write.
  await store.flushed(WRITTEN_WITHIN_MS);
  const responses = await responsesOf(deps, principal, [...new Set(itemIds.flatMap(uuidsOf))]);
  const wanted = new Set(itemIds);
  const opened = new Set<string>();
  const items = new Map<string, StoredItem>();
  return async (itemId) => {
    const [uuid = ""] = uuidsOf(itemId);
    const id = responses.get(uuid);
    if (id === undefined) return undefined;
    if (!opened.has(id)) {
      opened.add(id);
      for (const found of await openItems(deps, principal, id, wanted)) items.set(found.item.id, found);
    }
    return items.get(itemId);
  };
}

const uuidsOf = (itemId: string): string[] => {
  const uuid = uuidOfItem(itemId);
  return uuid === null ? [] : [uuid];
};

/** The ids of responses by the UUIDs of their items. Waits a little for what another process is writing. */
async function responsesOf(
  { db }: ResponsesDeps,
  principal: Principal,
  uuids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (uuids.length === 0) return new Map();
  const until = Date.now() + WRITTEN_WITHIN_MS;
  for (;;) {
    const rows = await findResponsesOfItems(db, principal.organization, callerIdOf(principal), uuids);
    const found = new Map(rows.flatMap(({ id, item_ids: ids }) => ids.map((uuid) => [uuid, id] as const)));
    const isMissing = uuids.some((uuid) => !found.has(uuid) && wasJustMade(uuid));
    if (!isMissing || Date.now() > until) return found;
    await sleep(LOOK_MS);
  }
}

async function openItems(
  deps: ResponsesDeps,
  principal: Principal,
  id: string,
  wanted: ReadonlySet<string>,
): Promise<StoredItem[]> {
  const { organization } = principal;
  try {
    const row = await findSealedAnswer(deps.db, organization, callerIdOf(principal), id);
    if (row === undefined) return [];
    await requireReached(deps, principal, row.document_ids);
    const sealed = { keyId: row.response_key_id, sealed: row.sealed_response };
    const { output } = await openResponse(deps, organization.id, id, sealed);
    return output
      .filter((item) => wanted.has(item.id))
      .map((item) => ({
        item,
        documentIds: row.document_ids,
        characters: JSON.stringify(item).length,
      }));
  } catch (error) {
    if (error instanceof DomainError && error.class === "hopeless") return [];
    throw error;
  }
}
