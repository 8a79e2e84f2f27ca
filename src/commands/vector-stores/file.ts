/** What the commands of a store's files share. */
import type { Action } from "../../auth/policy.ts";
import { findDocument } from "../../db/documents/read.ts";
import { findStoreFile, type StoreFileRow } from "../../db/stores/files.ts";
import type { StaticChunking } from "../../db/stores/stores.ts";
import type { Sql } from "../../db/pool.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { requireStore } from "./store.ts";

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface WantedFile {
  readonly fileId: string;
  /** Undefined: none, or those that the file has in the store already. */
  readonly attributes: Attributes | undefined;
  /** Null is the default chunker; undefined what the store says. */
  readonly chunking: StaticChunking | null | undefined;
  /** The field of the request that names the file. */
  readonly param: string;
}

export interface FileInStore {
  readonly storeId: string;
  readonly fileId: string;
}

/**
 * Locks the file's document until the transaction ends, and reads the file as it is then.
 * @throws DomainError `not_found` for the store or the file, `permission_denied`
 */
export async function lockStoreFile(
  sql: Sql,
  principal: Principal,
  action: Action,
  { storeId, fileId }: FileInStore,
): Promise<StoreFileRow> {
  await requireStore(sql, principal, action, storeId);
  const found = await findStoreFile(sql, storeId, fileId);
  if (found === undefined) throw notFound("file");
  await findDocument(sql, principal, found.document_id, { lock: true });
  const locked = await findStoreFile(sql, storeId, fileId);
  if (locked === undefined) throw notFound("file");
  return locked;
}
