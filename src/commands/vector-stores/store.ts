/** What the commands of vector stores share: who may, the names of folders, and how texts are chunked. */
import { type Action, authorize } from "../../auth/policy.ts";
import { lockFolderTree } from "../../db/documents/folders.ts";
import { findStore, siblingNames, type StaticChunking, type StoreRow } from "../../db/stores/stores.ts";
import type { Sql } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { DEFAULT_CHUNKER } from "../../domain/work/processing.ts";

/** The store where the caller may do `action`. @throws DomainError `not_found`, `permission_denied` */
export async function requireStore(
  sql: Sql,
  principal: Principal,
  action: Action,
  id: string,
): Promise<StoreRow> {
  const store = await findStore(sql, principal.reach, id);
  authorize(principal, action, store, "vector_store");
  return store;
}

/** Does what {@link requireStore} does, and locks the folders of its space until the transaction ends. */
export async function lockStore(sql: Sql, principal: Principal, id: string): Promise<StoreRow> {
  const found = await requireStore(sql, principal, "folders:write", id);
  await lockFolderTree(sql, found.space_id);
  return requireStore(sql, principal, "folders:write", id);
}

/** @throws DomainError `bad_request` */
export function requireLiveStore(store: StoreRow): void {
  if (store.is_expired) throw new DomainError("bad_request", "The vector store has expired.");
}

const UNNAMED = "Vector store";
/** Leaves room for a number behind it. */
const MAX_BASE = 200;

interface FolderAt {
  readonly spaceId: string;
  readonly parentFolderId: string | null;
  /** The folder itself, which may keep its name. */
  readonly folderId: string | null;
}

/** A name for the store's folder: a valid form of the given one, which no other folder beside it has. */
export async function folderNameFor(sql: Sql, name: string, at: FolderAt): Promise<string> {
  const base = name.replaceAll("/", "-").trim().slice(0, MAX_BASE).toWellFormed().trim() || UNNAMED;
  const taken = await siblingNames(sql, at.spaceId, at.parentFolderId, { prefix: base, except: at.folderId });
  if (!taken.has(base)) return base;
  for (let number = 2; ; number += 1) {
    const numbered = `${base} (${number})`;
    if (!taken.has(numbered)) return numbered;
  }
}

interface RunChunking {
  readonly chunkerName: string;
  readonly chunkerConfig: Readonly<Record<string, number>>;
}

/** How a run is to chunk: null is the default. No chunk has more tokens than the embedding model takes. */
export function runChunking(asked: StaticChunking | null, maxTokens: number): RunChunking {
  if (asked === null) return { chunkerName: DEFAULT_CHUNKER, chunkerConfig: {} };
  const size = Math.min(asked.max_chunk_size_tokens, maxTokens);
  const overlap = Math.min(asked.chunk_overlap_tokens, Math.floor(size / 2));
  return { chunkerName: "fixed_tokens", chunkerConfig: { max_tokens: size, overlap_tokens: overlap } };
}
