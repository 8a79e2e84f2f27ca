/** Appends rows to the audit log. */
import pg from "pg";
import type { EventType } from "../../domain/events/event-types.ts";
import { DomainError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { noteEvents } from "../events/noted.ts";
import { type Database, queryOnce, type Sql, violates } from "../pool.ts";

const FOREIGN_KEY_VIOLATION = "23503";

export interface AuditEntry {
  /** What was done, as the policy calls it: `documents:create`. */
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly space_id: string | null;
  readonly request_id: string | null;
  readonly outcome: "success" | "denied" | "failed";
  readonly details?: AuditDetails | undefined;
  /**
   * The events that a change is; not given for what changes nothing. For rows of version 0.10, which name
   * none, the database has `event_of_change`.
   */
  readonly events?: readonly ToldEvent[];
}

/** Codes, ids and counts; never text and never names. */
export interface AuditDetails {
  /** Why requests were refused: the code of the error. */
  readonly code?: string;
  /** Which requests were refused: a method and a path with the names of its parameters. */
  readonly route?: string;
  /** How many requests the row stands for. Default 1. */
  readonly count?: number;
  /** What was made of what was opened. */
  readonly target?: { readonly type: string; readonly id: string; readonly space_id: string };
}

/** An event of a change. What is left out is that of the change. */
export interface ToldEvent {
  readonly type: EventType;
  readonly resource_type?: string;
  readonly resource_id?: string;
  readonly space_id?: string;
  /** Ids, states, codes and counts; never text and never names. */
  readonly data?: Readonly<Record<string, string | number | boolean | null>>;
}

/** Stands for work that no caller asked for: provisioning, maintenance, the command line. */
interface SystemActor {
  readonly authMethod: "system";
  readonly organization: { readonly id: string };
}

/** The part of a principal that a row has. */
export interface CallingActor extends Pick<Principal, "authMethod" | "apiKeyId"> {
  readonly organization: { readonly id: string };
  readonly user: { readonly id: string };
}

export type AuditActor = CallingActor | SystemActor;

export interface AuditRow extends Omit<AuditEntry, "outcome" | "details"> {
  readonly id: string;
  /** With the details behind it, if there are any: see {@link auditRow}. */
  readonly outcome: string;
  readonly organization_id: string;
  readonly at: Date;
  readonly actor_id: string | null;
  readonly auth_method: "api_key" | "jwt" | "system";
  readonly api_key_id: string | null;
}

/**
 * Makes the row of an entry, with a new id, so that a second write of it is noticed. Details stand behind the
 * outcome, in its column, as JSON: the chain of hashes is of the columns that there are, and a version that
 * does not know of another one would chain rows without it, so that it could be changed unnoticed.
 */
export function auditRow(actor: AuditActor, { outcome, details, ...entry }: AuditEntry, at: Date): AuditRow {
  const isCaller = actor.authMethod !== "system";
  return {
    ...entry,
    outcome: details === undefined ? outcome : `${outcome} ${JSON.stringify(details)}`,
    id: newId(at.getTime()),
    at,
    organization_id: actor.organization.id,
    auth_method: actor.authMethod,
    actor_id: isCaller ? actor.user.id : null,
    api_key_id: isCaller ? actor.apiKeyId : null,
  };
}

/** Writes the row of a change, in the transaction of that change. */
export async function appendAudit(sql: Sql, actor: AuditActor, entry: AuditEntry): Promise<void> {
  noteEvents(sql, actor.organization.id);
  await sql.query("select append_audit_rows($1)", [JSON.stringify([auditRow(actor, entry, new Date())])]);
}

/** Writes rows of any organizations, in the transaction of the changes that they record. */
export async function appendAuditRowsIn(sql: Sql, rows: readonly AuditRow[]): Promise<void> {
  for (const row of rows) noteEvents(sql, row.organization_id);
  await sql.query("select append_audit_rows($1)", [JSON.stringify(rows)]);
}

/** Writes rows of any organizations in one statement. */
export async function appendAuditRows(db: Database, rows: readonly AuditRow[]): Promise<void> {
  await queryOnce(db.app, "select append_audit_rows($1)", [JSON.stringify(rows)]);
}

/**
 * Writes rows some time after what they are about. Those of an organization that was deleted meanwhile are
 * left out: its log is gone, and they must not keep those of others from being written. Idempotent: rows
 * whose write was committed, but not answered, are not written again.
 */
export async function appendLateAuditRows(db: Database, rows: readonly AuditRow[]): Promise<void> {
  let left = rows;
  while (left.length > 0) {
    try {
      await appendAuditRows(db, left);
      return;
    } catch (error) {
      // They are written together or not at all.
      if (violates(error, "audit_log_pkey")) return;
      const known = left.filter(({ organization_id: id }) => !isAboutMissing(error, id));
      if (known.length === left.length) throw error;
      left = known;
    }
  }
}

/** Whether a foreign key does not find this id. */
function isAboutMissing(error: unknown, id: string): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === FOREIGN_KEY_VIOLATION &&
    error.detail?.includes(`(${id})`) === true
  );
}

/**
 * Writes one row for each organization whose payloads an operator has decrypted, in one statement. An
 * operator may be no user, so the row names the subject of the access token as its resource.
 * @throws DomainError `overloaded` if an organization was deleted meanwhile; when it is called again, its
 * payloads do not open any more.
 */
export async function appendDecryption(
  db: Database,
  organizationIds: readonly string[],
  by: { readonly operator: string; readonly requestId: string },
): Promise<void> {
  if (organizationIds.length === 0) return;
  const entry = {
    action: "payloads:decrypt",
    resource_type: "operator",
    resource_id: by.operator,
    space_id: null,
    request_id: by.requestId,
    outcome: "success",
  } as const;
  const now = new Date();
  const rows = organizationIds.map((id): AuditRow => ({
    ...auditRow({ authMethod: "system", organization: { id } }, entry, now),
    auth_method: "jwt",
  }));
  try {
    await appendAuditRows(db, rows);
  } catch (error) {
    const isGone = error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION;
    throw isGone
      ? new DomainError("overloaded", "An organization was deleted meanwhile.", {
          retryAfterSeconds: 1,
          cause: error,
        })
      : error;
  }
}
