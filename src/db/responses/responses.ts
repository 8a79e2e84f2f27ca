/** Keeps responses: what was asked and what was answered, sealed, for the caller who asked. */
import { DomainError } from "../../domain/errors.ts";
import { IS_HELD } from "../instance/process-leases.ts";
import { type Database, type OrganizationRef, type Sql, inTenant, readTenant } from "../pool.ts";
import { inTenantContended } from "../retry-deadlocks.ts";
import { type NewContents, type NewItem, addOutput, bytesOf, putContents } from "./items.ts";
import { type ResponseQuotas, requireRoomForResponse } from "./quota.ts";
import type { SealedText } from "./sealed-text.ts";

type ResponseState = "queued" | "in_progress" | "completed" | "failed" | "cancelled" | "incomplete";

export interface NewResponse {
  readonly id: string;
  readonly organization: OrganizationRef;
  readonly callerId: string;
  readonly userId: string;
  readonly apiKeyId: string | null;
  readonly isBackground: boolean;
  readonly apiProcessId: string;
  readonly documentIds: readonly string[];
  readonly createdAt: Date;
  readonly keptHours: number;
}

/** What was asked, in the form in which it is written. */
export interface NewRequest {
  /** Without the items. */
  readonly request: SealedText;
  readonly contents: NewContents;
}

export interface ResponseEnd extends SealedText {
  readonly status: ResponseState;
  readonly itemIds: readonly string[];
  readonly output: readonly NewItem[];
}

/** Only the attempt that has the response in hand may write it. */
export interface ResponseFence {
  readonly organization: OrganizationRef;
  readonly id: string;
  readonly attempt: number;
}

/** Of a row of `responses`. */
export const UNDER_WAY = "status in ('queued', 'in_progress')";

/**
 * Writes that a response is under way, unless that would be more than may be kept. Idempotent.
 * @throws DomainError `response_quota_exceeded`, `previous_response_not_found` if what it goes on from is
 * gone.
 */
export async function putResponse(
  db: Database,
  response: NewResponse,
  { request, contents }: NewRequest,
  quotas: ResponseQuotas,
): Promise<void> {
  const { id: organizationId } = response.organization;
  const bytes = request.sealed.length + bytesOf(contents.items);
  await inTenantContended(db, response.organization, async (sql) => {
    await requireRoomForResponse(sql, { organizationId, userId: response.userId }, bytes, quotas);
    await putContents(sql, organizationId, contents);
    await insertResponse(sql, response, request);
  }).catch((error: unknown) => {
    throw isBeforeGone(error) ? previousNotFound() : error;
  });
}

const isBeforeGone = (error: unknown): boolean =>
  error instanceof Error &&
  "constraint" in error &&
  error.constraint === "response_contents_organization_id_before_id_fkey";

/** Of a response that goes on from one that is not there, or not any more. */
export function previousNotFound(): DomainError {
  return new DomainError("previous_response_not_found", "Previous response not found", {
    param: "previous_response_id",
  });
}

async function insertResponse(sql: Sql, response: NewResponse, request: SealedText): Promise<void> {
  await sql.query(
    `insert into responses (
       id, organization_id, caller_id, user_id, api_key_id, status, is_background, api_process_id, document_ids,
       request_key_id, sealed_request, is_itemized, created_at, expires_at
     )
     values (
       $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, true, $12::timestamptz,
       $12::timestamptz + make_interval(hours => $13)
     )
     on conflict (id) do nothing`,
    [
      response.id,
      response.organization.id,
      response.callerId,
      response.userId,
      response.apiKeyId,
      response.isBackground ? "queued" : "in_progress",
      response.isBackground,
      response.apiProcessId,
      response.documentIds,
      request.keyId,
      request.sealed,
      response.createdAt,
      response.keptHours,
    ],
  );
}

/** All of a response but what is sealed. */
export interface ResponseRow {
  readonly id: string;
  readonly user_id: string;
  readonly api_key_id: string | null;
  readonly status: ResponseState;
  readonly is_background: boolean;
  readonly attempt: number;
  /** How many of the attempts an outage ended. */
  readonly outages: number;
  /** The code of the outage that it waits for. */
  readonly waiting_for: string | null;
  readonly document_ids: readonly string[];
  /** Whether the response is there as it ended. */
  readonly has_ended: boolean;
  /** Of its row, without its items. */
  readonly sealed_bytes: number;
  readonly created_at: Date;
  /** Whether it is under way in a process that is gone. */
  readonly is_orphan: boolean;
}

/** Lengths are read without what they are of. */
export const COLUMNS = `
  response.id,
  response.user_id,
  response.api_key_id,
  response.status,
  response.is_background,
  response.attempt,
  response.outages,
  response.waiting_for,
  response.document_ids,
  response.sealed_response is not null as has_ended,
  octet_length(response.sealed_request) + coalesce(octet_length(response.sealed_response), 0) as sealed_bytes,
  response.created_at`;

/** The response of this caller; undefined also if it is past its retention. */
export async function findResponse(
  db: Database,
  organization: OrganizationRef,
  callerId: string,
  id: string,
): Promise<ResponseRow | undefined> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<ResponseRow>(
      `select ${COLUMNS},
              response.${UNDER_WAY} and not ${IS_HELD} as is_orphan
       from responses response
       where response.id = $1
         and response.caller_id = $2
         and response.expires_at > now()`,
      [id, callerId],
    ),
  );
  return rows[0];
}

/** What was asked; undefined if it was deleted meanwhile. */
export const readSealedRequest = async (
  db: Database,
  organization: OrganizationRef,
  id: string,
): Promise<SealedText | undefined> => readSealed(db, organization, id, "request");

/** The response as it ended; undefined if it has not, or was deleted meanwhile. */
export const readSealedResponse = async (
  db: Database,
  organization: OrganizationRef,
  id: string,
): Promise<SealedText | undefined> => readSealed(db, organization, id, "response");

async function readSealed(
  db: Database,
  organization: OrganizationRef,
  id: string,
  part: "request" | "response",
): Promise<SealedText | undefined> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<SealedText>(
      `select ${part}_key_id as "keyId", sealed_${part} as sealed
       from responses
       where id = $1
         and sealed_${part} is not null`,
      [id],
    ),
  );
  return rows[0];
}

export interface ResponseOfItems {
  readonly id: string;
  readonly item_ids: readonly string[];
  readonly document_ids: readonly string[];
}

/** The caller's responses whose output has one of the items. */
export async function findResponsesOfItems(
  db: Database,
  organization: OrganizationRef,
  callerId: string,
  itemIds: readonly string[],
): Promise<ResponseOfItems[]> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<ResponseOfItems>(
      `select id, item_ids, document_ids
       from responses
       where item_ids && $1::uuid[]
         and caller_id = $2
         and expires_at > now()`,
      [itemIds, callerId],
    ),
  );
  return rows;
}

/** @returns false if the caller has no such response. */
export async function deleteResponse(sql: Sql, callerId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `delete from responses
     where id = $1
       and caller_id = $2`,
    [id, callerId],
  );
  return rowCount === 1;
}

/**
 * Ends a response that is under way. Only the attempt that has it may, unless `attempt` is null.
 * @param documentIds null: as they were before.
 * @returns false if it has ended or was taken by another process.
 */
export async function endResponse(
  db: Database,
  { organization, id, attempt }: Omit<ResponseFence, "attempt"> & { readonly attempt: number | null },
  { status, keyId, sealed, itemIds, output }: ResponseEnd,
  documentIds: readonly string[] | null,
): Promise<boolean> {
  return inTenant(db, organization, async (sql) => {
    const { rowCount } = await sql.query(
      `update responses
       set status = $3,
           response_key_id = $4,
           sealed_response = $5,
           document_ids = coalesce($6, document_ids),
           item_ids = $7
       where id = $1
         and ($2::int is null or attempt = $2)
         and ${UNDER_WAY}`,
      [id, attempt, status, keyId, sealed, documentIds, itemIds],
    );
    if (rowCount === 1) await addOutput(sql, organization.id, id, output);
    return rowCount === 1;
  });
}
