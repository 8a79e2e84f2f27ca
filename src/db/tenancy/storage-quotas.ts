/** All SQL of what an organization may store at most. */
import { DomainError } from "../../domain/errors.ts";
import type { Sql } from "../pool.ts";

export interface StorageQuotas {
  /** Documents that are not deleted; undefined is no bound. */
  readonly documentsPerOrganization: number | undefined;
  /** Of raw files that are not deleted; undefined is no bound. */
  readonly bytesPerOrganization: number | undefined;
}

interface Stored {
  readonly documents: number;
  readonly bytes: number;
}

/**
 * Checks what is stored with what the transaction has written already, one upload of the organization after the other.
 * @throws DomainError `bad_request` where that is more than the organization may store.
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
  // By the spaces of the organization, because that is how the indexes go.
  const { rows } = await sql.query<Stored>(
    `with own as (select array(select id from spaces where organization_id = $1) as ids)
     select (select count(*) from documents, own where space_id = any(own.ids) and deleted_at is null)::int as documents,
       (select coalesce(sum(size), 0) from raw_files, own where space_id = any(own.ids) and deleted_at is null)::bigint as bytes`,
    [organizationId],
  );
  const { documents, bytes } = rows[0]!;
  if (documents > (documentsPerOrganization ?? Infinity))
    throw exceeded(`${documentsPerOrganization} documents`);
  if (bytes > (bytesPerOrganization ?? Infinity)) throw exceeded(`${bytesPerOrganization} bytes`);
}

function exceeded(quota: string): DomainError {
  return new DomainError("bad_request", `The upload would exceed the organization's quota of ${quota}`);
}
