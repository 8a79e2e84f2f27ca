/** Finds items of stored responses, to which a request refers or which it gives back. */
import { callerIdOf } from "../../../domain/tenancy/ownership.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { findOutputItems, readItems } from "../../../db/responses/items.ts";
import { type ResponseOfItems, findResponsesOfItems } from "../../../db/responses/responses.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponsesDeps } from "./deps.ts";
import { type OutputItem, uuidOfItem } from "./items.ts";
import { digestOfId, openItems } from "./sealed.ts";
import { requireReached } from "./reached.ts";
import { LOOK_MS, type ResponseStore, WRITTEN_WITHIN_MS, wasJustMade } from "./store.ts";

export interface StoredItem {
  /** Those that the model of its response was shown. */
  readonly documentIds: readonly string[];
  /** Its length as JSON. */
  readonly characters: number;
  /** Undefined if it is gone, or its key is. */
  open(): Promise<OutputItem | undefined>;
}

/** Undefined also for an item that the caller may not read, or whose key is gone. */
export type FindStoredItem = (itemId: string) => Promise<StoredItem | undefined>;

/** Looks up at once which responses have the items, and opens items one by one. */
export async function findStoredItems(
  deps: ResponsesDeps,
  store: ResponseStore,
  principal: Principal,
  itemIds: readonly string[],
): Promise<FindStoredItem> {
  // Which response they are of, only its written row says.
  await store.written(principal);
  const responses = await responsesOf(deps, principal, [...new Set(itemIds.flatMap(uuidsOf))]);
  const wanted = new Set(itemIds);
  const looked = new Set<string>();
  const items = new Map<string, StoredItem>();
  return async (itemId) => {
    const [uuid = ""] = uuidsOf(itemId);
    const response = responses.get(uuid);
    if (response === undefined) return undefined;
    if (!looked.has(response.id)) {
      looked.add(response.id);
      for (const [id, item] of await itemsOf(deps, principal, response, wanted)) items.set(id, item);
    }
    return items.get(itemId);
  };
}

const uuidsOf = (itemId: string): string[] => {
  const uuid = uuidOfItem(itemId);
  return uuid === null ? [] : [uuid];
};

/** Responses by the UUIDs of their items. Waits a little for what another process is writing. */
async function responsesOf(
  { db }: ResponsesDeps,
  principal: Principal,
  uuids: readonly string[],
): Promise<ReadonlyMap<string, ResponseOfItems>> {
  if (uuids.length === 0) return new Map();
  const until = Date.now() + WRITTEN_WITHIN_MS;
  for (;;) {
    const rows = await findResponsesOfItems(db, principal.organization, callerIdOf(principal), uuids);
    const found = new Map(rows.flatMap((row) => row.item_ids.map((uuid) => [uuid, row] as const)));
    const isMissing = uuids.some((uuid) => !found.has(uuid) && wasJustMade(uuid));
    if (!isMissing || Date.now() > until) return found;
    await sleep(LOOK_MS);
  }
}

type Found = readonly (readonly [itemId: string, item: StoredItem])[];

/** Those of the wanted items that are of this response; none if the caller may not read it. */
async function itemsOf(
  deps: ResponsesDeps,
  principal: Principal,
  response: ResponseOfItems,
  wanted: ReadonlySet<string>,
): Promise<Found> {
  const found = await orNone(async () => {
    await requireReached(deps, principal, response.document_ids);
    return rowsOf(deps, principal, response, wanted);
  });
  return found ?? [];
}

async function rowsOf(
  deps: ResponsesDeps,
  { organization }: Principal,
  { id, document_ids: documentIds }: ResponseOfItems,
  wanted: ReadonlySet<string>,
): Promise<Found> {
  const idsByDigest = new Map([...wanted].map((itemId) => [digestOfId(itemId).toString("hex"), itemId]));
  const digests = [...idsByDigest.keys()].map((digest) => Buffer.from(digest, "hex"));
  const rows = await findOutputItems(deps.db, organization, id, digests);
  return rows.map(({ idDigest, place, characters }) => {
    const open = async (): Promise<OutputItem | undefined> => {
      const output = { isOutput: true, from: place, to: place + 1 };
      const rows = await readItems(deps.db, organization, id, output);
      const items = await orNone(() => openItems<OutputItem>(deps, organization.id, rows));
      return items?.[0];
    };
    return [idsByDigest.get(idDigest.toString("hex")) ?? "", { documentIds, characters, open }] as const;
  });
}

/** Undefined for what can never be read. */
async function orNone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DomainError && error.class === "hopeless") return undefined;
    throw error;
  }
}
