/** An anchor of the audit log: the heads of all chains at one time, and the name of its object. */

export interface ChainHead {
  readonly organization_id: string;
  /** Number of the chain's last row; at least 1. */
  readonly seq: number;
  /** The hash of that row, in hexadecimal. */
  readonly hash: string;
  /** When that row was written (ISO 8601); null if it had already been deleted by its age. */
  readonly at: string | null;
  /** Number of the last row that had been deleted by its age; 0 before the first. */
  readonly base_seq: number;
  /** When the oldest kept row was written; null: there was none. No row after it may be deleted early. */
  readonly oldest_at: string | null;
}

export interface AnchorStatement {
  readonly type: "holdfast-audit-anchor";
  readonly version: 1;
  /** ISO 8601. */
  readonly made_at: string;
  readonly heads: readonly ChainHead[];
}

/** The instance secret that anchors are signed with: the 32 bytes of an Ed25519 private key. */
export const ANCHOR_SECRET = "audit-anchor";
export const ANCHOR_PREFIX = "anchors/";
/** Three parts like every object name, because version 0.3.0 lists the whole store to that depth. */
export const ANCHOR_NAME = /^anchors\/\d{4}\/\d{4}-\d{2}-\d{2}(?:T\d{6}Z)?\.jws$/;

/** The one anchor of the day, in UTC, that maintenance writes. */
export function dailyAnchorName(now: Date): string {
  return anchorKey(now, now.toISOString().slice(0, 10));
}

/** An anchor that an operator asked for; its name has the second. */
export function anchorName(now: Date): string {
  return anchorKey(now, `${now.toISOString().slice(0, 19).replaceAll(":", "")}Z`);
}

function anchorKey(now: Date, time: string): string {
  return `${ANCHOR_PREFIX}${now.getUTCFullYear()}/${time}.jws`;
}
