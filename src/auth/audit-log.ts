/**
 * Writes the audit rows of reads and refusals after the answer, in batches. A change writes its own in its
 * transaction.
 */
import {
  type AuditActor,
  type AuditEntry,
  appendAuditRows,
  auditRow,
  type AuditRow,
} from "../db/audit/append.ts";
import type { Database } from "../db/pool.ts";
import type { Log } from "../process/log.ts";
import { createWriteBehind } from "./write-behind.ts";

/** Rows; more than wait are dropped, and counted in the log. */
const MAX_WAITING = 20_000;

export interface AuditLog {
  /** Takes the row; it is in the database within a second. */
  record(actor: AuditActor, entry: AuditEntry): void;
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function createAuditLog(db: Database, log: Pick<Log, "error">): AuditLog {
  const rows = createWriteBehind<AuditRow>({
    name: "audit log",
    maxEntries: MAX_WAITING,
    log,
    write: (entries) => appendAuditRows(db, entries),
  });
  return {
    record: (actor, entry) => rows.add(auditRow(actor, entry, new Date())),
    flush: rows.flush,
    close: rows.close,
  };
}
