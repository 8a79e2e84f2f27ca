/** Whether a caller still reaches the documents that a response may tell about. */
import { findDocumentPlaces } from "../../../db/documents/search.ts";
import { readTenant } from "../../../db/pool.ts";
import { notFound } from "../../../domain/not-found.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponsesDeps } from "./deps.ts";

/** @throws DomainError `response_not_found` if the caller does not reach all of the documents any more. */
export async function requireReached(
  deps: ResponsesDeps,
  principal: Principal,
  documentIds: readonly string[],
): Promise<void> {
  if (!(await isReached(deps, principal, documentIds))) throw notFound("response");
}

/** Whether the caller reaches all of the documents. */
export async function isReached(
  { db }: ResponsesDeps,
  { organization, reach }: Principal,
  documentIds: readonly string[],
): Promise<boolean> {
  if (documentIds.length === 0) return true;
  const places = await readTenant(db, organization, (sql) => findDocumentPlaces(sql, reach, documentIds));
  return places.length >= new Set(documentIds).size;
}
