/** Audits reads and refusals after the answer, in batches. A change writes its own in its transaction. */
import {
  type AuditActor,
  type AuditEntry,
  appendLateAuditRows,
  auditRow,
  type AuditRow,
  type CallingActor,
} from "../db/audit/append.ts";
import type { Database } from "../db/pool.ts";
import type { Log } from "../process/log.ts";
import { createRefusals, type Refusal } from "./refusals.ts";
import { createWriteBehind } from "./write-behind.ts";

/** Rows; more than wait are dropped, and counted in the log. */
const MAX_WAITING = 20_000;

export interface AuditLog {
  /** Takes the row; it is in the database within a second. */
  record(actor: AuditActor, entry: AuditEntry): void;
  /** Takes a refused request of a key: it has a row within a second, or is counted in one within a minute. */
  refuse(actor: CallingActor, refusal: Refusal): void;
  /** Writes all that is taken, refusals that are being counted too. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function createAuditLog(db: Database, log: Pick<Log, "error">): AuditLog {
  const rows = createWriteBehind<AuditRow>({
    name: "audit log",
    maxEntries: MAX_WAITING,
    log,
    write: (entries) => appendLateAuditRows(db, entries),
  });
  const record = (actor: AuditActor, entry: AuditEntry): void => rows.add(auditRow(actor, entry, new Date()));
  const refusals = createRefusals(record);
  return {
    record,
    refuse: (actor, refusal) => refusals.note(actor, refusal),
    async flush() {
      refusals.flush();
      await rows.flush();
    },
    async close() {
      refusals.close();
      await rows.close();
    },
  };
}
