/** What writing and reading kept answers have in common. */
import type { Database, OrganizationRef } from "../../../db/pool.ts";
import type { Log } from "../../../process/log.ts";
import type { Keyring } from "../../../storage/keys/keyring.ts";

export interface TurnRecordsDeps {
  readonly db: Database;
  readonly log: Log;
  readonly keyring: Keyring;
  /** A turn that nobody reads is cancelled after this. Default 60 s. */
  readonly unreadMaxMs?: number;
}

export interface RecordPlace {
  readonly organization: OrganizationRef;
  readonly turnId: string;
}

export const UNREAD_MAX_MS = 60_000;
/** How often, within that time, a reader notes that it is there and the turn's process looks for one. */
export const LOOKS = 6;
