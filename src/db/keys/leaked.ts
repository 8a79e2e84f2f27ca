/** Takes reports of leaked keys, and revokes the keys that they name. */
import { type Database, inTransaction, queryOnce } from "../pool.ts";
import { appendAuditRowsIn, auditRow } from "../audit/append.ts";

/** How many reports may wait before more are refused. */
const MAX_WAITING = 10_000;
/** A process takes so many of them every few seconds. */
const TAKEN_AT_ONCE = 1_000;

/**
 * Stores the hashes of reported keys. Takes the same time whether or not such keys exist, so that it does not
 * reveal that.
 * @returns false if too many reports are waiting already.
 */
export async function reportLeakedKeys(db: Database, hashes: readonly Buffer[]): Promise<boolean> {
  const { rows } = await queryOnce<{ accepted: boolean }>(
    db.app,
    "select report_leaked_keys($1::bytea[], $2) as accepted",
    [hashes, MAX_WAITING],
  );
  return rows[0]!.accepted;
}

interface RevokedKey {
  readonly id: string;
  readonly organization_id: string;
  readonly user_id: string;
}

/** Revokes the keys of the oldest reports, and audits each. Several processes may call it at once. */
export async function revokeLeakedKeys(db: Database): Promise<readonly RevokedKey[]> {
  return inTransaction(db.app, async (sql) => {
    const { rows } = await sql.query<RevokedKey>(
      "select id, organization_id, user_id from revoke_leaked_keys($1)",
      [TAKEN_AT_ONCE],
    );
    const entry = {
      action: "api_keys:revoke_leaked",
      resource_type: "api_key",
      space_id: null,
      request_id: null,
      outcome: "success",
      events: [{ type: "key.leaked" }],
    } as const;
    const audited = rows.map((key) =>
      auditRow(
        { authMethod: "system", organization: { id: key.organization_id } },
        { ...entry, resource_id: key.id },
        new Date(),
      ),
    );
    if (audited.length > 0) await appendAuditRowsIn(sql, audited);
    return rows;
  });
}
