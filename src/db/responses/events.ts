/** Keeps the events of responses in the background, sealed, in the order in which they come. */
import { type Database, type OrganizationRef, inTenant, readTenant } from "../pool.ts";
import { type ResponseFence, UNDER_WAY } from "./responses.ts";
import type { SealedText } from "./sealed-text.ts";

export interface SealedEvents extends SealedText {
  readonly firstNo: number;
  readonly lastNo: number;
}

/**
 * Adds events, and the documents that they may be based on.
 * @returns false if the response has ended, is deleted, or was taken by another process: nothing is written.
 */
export async function addResponseEvents(
  db: Database,
  { organization, id, attempt }: ResponseFence,
  { firstNo, lastNo, keyId, sealed }: SealedEvents,
  documentIds: readonly string[] | null,
): Promise<boolean> {
  return inTenant(db, organization, async (sql) => {
    const { rowCount } = await sql.query(
      `update responses
       set status = 'in_progress',
           document_ids = coalesce($3, document_ids),
           event_bytes = event_bytes + $4
       where id = $1
         and attempt = $2
         and ${UNDER_WAY}`,
      [id, attempt, documentIds, sealed.length],
    );
    if (rowCount === 0) return false;
    await sql.query(
      `insert into response_events (response_id, organization_id, first_no, last_no, key_id, sealed)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (response_id, first_no) do nothing`,
      [id, organization.id, firstNo, lastNo, keyId, sealed],
    );
    return true;
  });
}

/** Reads the first lists of events after `afterNo`: at least one, and more while below `maxBytes`. */
export async function readResponseEvents(
  db: Database,
  organization: OrganizationRef,
  { id, afterNo, maxBytes }: { readonly id: string; readonly afterNo: number; readonly maxBytes: number },
): Promise<SealedEvents[]> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<SealedEvents>(
      `select first_no as "firstNo",
              last_no as "lastNo",
              key_id as "keyId",
              sealed
       from (
         select *,
                sum(octet_length(sealed)) over (order by first_no) - octet_length(sealed) as bytes_before
         from response_events
         where response_id = $1
           and last_no > $2
       ) list
       where bytes_before < $3
       order by first_no`,
      [id, afterNo, maxBytes],
    ),
  );
  return rows;
}
