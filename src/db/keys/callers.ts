/** Finds out who calls with an API key, and notes its use. It gets hashes, never key texts. */
import type { Capability, OrganizationRole, ReachedSpace } from "../../domain/tenancy/principal.ts";
import { type Database, queryOnce } from "../pool.ts";

/** What the database knows of a caller; it does not yet say whether the caller is let in. */
export interface CallerRow {
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly avatar_url: string | null;
    readonly role: OrganizationRole;
    readonly removed: boolean;
  };
  readonly organization: {
    readonly id: string;
    readonly num: number;
    readonly name: string;
    readonly deleted: boolean;
    readonly is_home: boolean;
  };
  readonly has_private_space: boolean;
  readonly spaces: readonly ReachedSpace[];
}

export interface KeyCallerRow extends CallerRow {
  readonly key: {
    readonly id: string;
    readonly all_spaces: boolean;
    readonly capabilities: readonly Capability[];
    readonly expires_at: string | null;
    readonly revoked_at: string | null;
    readonly allowed_cidrs: readonly string[] | null;
    readonly made_by_other: boolean;
  };
}

/**
 * Finds a key by the hash of its text, with its owner and what it reaches, by one prepared statement.
 * @returns also keys that are revoked or expired; null if there is no such key.
 */
export async function findKeyCaller(db: Database, hash: Buffer): Promise<KeyCallerRow | null> {
  const { rows } = await queryOnce<{ caller: KeyCallerRow | null }>(db.app, {
    name: "authenticate_caller_key",
    text: "select authenticate_caller_key($1) as caller",
    values: [hash],
  });
  return rows[0]?.caller ?? null;
}

export interface KeyUse {
  readonly id: string;
  readonly at: Date;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** Notes when, from where and by what client keys were last used. An earlier use changes nothing. */
export async function touchApiKeys(db: Database, uses: readonly KeyUse[]): Promise<void> {
  await queryOnce(db.app, "select touch_caller_keys($1::uuid[], $2::timestamptz[], $3::inet[], $4::text[])", [
    uses.map((use) => use.id),
    uses.map((use) => use.at.toISOString()),
    uses.map((use) => use.ip),
    uses.map((use) => use.userAgent),
  ]);
}
