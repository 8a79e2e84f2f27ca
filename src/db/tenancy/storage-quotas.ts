/** Checks that an organization stores no more than it may. */
import { DomainError } from "../../domain/errors.ts";
import type { Sql } from "../pool.ts";

export interface StorageQuotas {
  /** Counts documents that are not deleted; undefined means no bound. */
  readonly documentsPerOrganization: number | undefined;
  /** Adds up users' files, and raw files that are not deleted; undefined means no bound. */
  readonly bytesPerOrganization: number | undefined;
}

interface Stored {
  readonly documents: number;
  readonly bytes: number;
}

/**
 * Checks what is stored, including what this transaction has written. Uploads of one organization do so one
 * at a time: until the transaction ends, others wait.
 * @throws DomainError `bad_request` if that is more than the organization may store.
 */
export async function requireWithinQuotas(
  sql: Sql,
  organizationId: string,
  quotas: StorageQuotas,
): Promise<void> {
  const { documentsPerOrganization, bytesPerOrganization } = quotas;
  if (documentsPerOrganization === undefined && bytesPerOrganization === undefined) return;
  await sql.query("select pg_advisory_xact_lock(hashtextextended('storage quota ' || $1::text, 0))", [
    organizationId,
  ]);
  // Asks by the spaces of the organization, because the indexes begin with the space.
  const { rows } = await sql.query<Stored>(
    `with own as (
       select array(select id from spaces where organization_id = $1) as ids
     )
     select (
              select count(*)
              from documents, own
              where space_id = any(own.ids)
                and deleted_at is null
            )::int as documents,
            (
              select coalesce(sum(size), 0)
              from raw_files file, own
              where space_id = any(own.ids)
                and deleted_at is null
                and not exists (
                  select
                  from openai_files held
                  where held.object_key = file.object_key
                )
            )::bigint + (
              select coalesce(sum(size), 0)
              from openai_files
              where organization_id = $1
            )::bigint as bytes`,
    [organizationId],
  );
  const { documents, bytes } = rows[0]!;
  if (documents > (documentsPerOrganization ?? Infinity))
    throw exceeded(`${documentsPerOrganization} documents`);
  if (bytes > (bytesPerOrganization ?? Infinity)) throw exceeded(`${bytesPerOrganization} bytes`);
}

function exceeded(quota: string): DomainError {
  return new DomainError(
    "storage_quota_exceeded",
    `The upload would exceed the organization's quota of ${quota}`,
  );
}
