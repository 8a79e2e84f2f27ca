/** Keeps responses: what was asked and what was answered, sealed, for the caller who asked. */
import { type Database, type OrganizationKey, type Sql, inTenant, readTenant } from "../pool.ts";

export interface SealedText {
  readonly keyId: string;
  readonly sealed: Buffer;
}

type ResponseState = "queued" | "in_progress" | "completed" | "failed" | "cancelled" | "incomplete";

export interface NewResponse {
  readonly id: string;
  readonly organization: OrganizationKey;
  readonly callerId: string;
  readonly userId: string;
  readonly apiKeyId: string | null;
  readonly isBackground: boolean;
  readonly apiProcessId: string;
  readonly documentIds: readonly string[];
  readonly createdAt: Date;
  readonly keptHours: number;
}

export interface ResponseEnd extends SealedText {
  readonly status: ResponseState;
  readonly itemIds: readonly string[];
}

/** Only the attempt that has the response in hand may write it. */
export interface ResponseFence {
  readonly organization: OrganizationKey;
  readonly id: string;
  readonly attempt: number;
}

/** Of a process that renewed its lease within this time nothing is taken. */
export const LEASE = "interval '5 seconds'";

/** Of a row of `responses`. */
export const UNDER_WAY = "status in ('queued', 'in_progress')";

/**
 * Writes a response, with its end if it has ended. Idempotent: an end that is there stays.
 */
export async function putResponse(
  db: Database,
  response: NewResponse,
  request: SealedText,
  end: ResponseEnd | null,
): Promise<void> {
  await inTenant(db, response.organization, (sql) =>
    sql.query(
      `insert into responses (
         id, organization_id, caller_id, user_id, api_key_id, status, is_background, api_process_id,
         document_ids, request_key_id, sealed_request, response_key_id, sealed_response, item_ids, created_at,
         expires_at
       )
       values (
         $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::timestamptz,
         $15::timestamptz + make_interval(hours => $16)
       )
       on conflict (id) do update
       set status = excluded.status,
           document_ids = excluded.document_ids,
           item_ids = excluded.item_ids,
           response_key_id = excluded.response_key_id,
           sealed_response = excluded.sealed_response
       where responses.${UNDER_WAY}
         and excluded.sealed_response is not null`,
      [
        response.id,
        response.organization.id,
        response.callerId,
        response.userId,
        response.apiKeyId,
        end?.status ?? (response.isBackground ? "queued" : "in_progress"),
        response.isBackground,
        response.apiProcessId,
        response.documentIds,
        request.keyId,
        request.sealed,
        end?.keyId ?? null,
        end?.sealed ?? null,
        end?.itemIds ?? [],
        response.createdAt,
        response.keptHours,
      ],
    ),
  );
}

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
  readonly request: SealedText;
  readonly response: SealedText | null;
  readonly created_at: Date;
  /** Whether it is under way in a process that is gone. */
  readonly is_orphan: boolean;
}

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
  response.request_key_id,
  response.sealed_request,
  response.response_key_id,
  response.sealed_response,
  response.created_at`;

export interface StoredRow extends Omit<ResponseRow, "request" | "response"> {
  readonly request_key_id: string;
  readonly sealed_request: Buffer;
  readonly response_key_id: string | null;
  readonly sealed_response: Buffer | null;
}

export function rowOf(row: StoredRow): ResponseRow {
  const { request_key_id, sealed_request, response_key_id, sealed_response, ...rest } = row;
  return {
    ...rest,
    request: { keyId: request_key_id, sealed: sealed_request },
    response:
      response_key_id === null || sealed_response === null
        ? null
        : { keyId: response_key_id, sealed: sealed_response },
  };
}

/** The response of this caller; undefined also if it is past its retention. */
export async function findResponse(
  db: Database,
  organization: OrganizationKey,
  callerId: string,
  id: string,
): Promise<ResponseRow | undefined> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<StoredRow>(
      `select ${COLUMNS},
              response.${UNDER_WAY} and not exists (
                select
                from api_processes process
                where process.id = response.api_process_id
                  and process.renewed_at > now() - ${LEASE}
              ) as is_orphan
       from responses response
       where response.id = $1
         and response.caller_id = $2
         and response.expires_at > now()`,
      [id, callerId],
    ),
  );
  return rows[0] && rowOf(rows[0]);
}

/** The caller's responses whose output has one of the items. */
export async function findResponsesOfItems(
  db: Database,
  organization: OrganizationKey,
  callerId: string,
  itemIds: readonly string[],
): Promise<{ readonly id: string; readonly item_ids: readonly string[] }[]> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<{ id: string; item_ids: string[] }>(
      `select id, item_ids
       from responses
       where item_ids && $1::uuid[]
         and caller_id = $2
         and expires_at > now()`,
      [itemIds, callerId],
    ),
  );
  return rows;
}

interface SealedAnswer {
  readonly document_ids: readonly string[];
  readonly response_key_id: string;
  readonly sealed_response: Buffer;
}

/** What was answered, without what was asked, which may be far longer; undefined if there is none. */
export async function findSealedAnswer(
  db: Database,
  organization: OrganizationKey,
  callerId: string,
  id: string,
): Promise<SealedAnswer | undefined> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<SealedAnswer>(
      `select document_ids, response_key_id, sealed_response
       from responses
       where id = $1
         and caller_id = $2
         and expires_at > now()
         and sealed_response is not null`,
      [id, callerId],
    ),
  );
  return rows[0];
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
  { status, keyId, sealed, itemIds }: ResponseEnd,
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
    return rowCount === 1;
  });
}
