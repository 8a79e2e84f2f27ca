/** Keeps the answers of chat turns with an Idempotency-Key: their process, sealed pieces and end. */
import { IS_HELD } from "../instance/process-leases.ts";
import { type Database, type OrganizationRef, type Sql, inTenant, readTenant } from "../pool.ts";

export interface KeptTurnKey {
  readonly organization: OrganizationRef;
  /** The id of the API key, else of the user. */
  readonly callerId: string;
  readonly key: string;
}

export interface Sealed {
  readonly keyId: string;
  readonly sealed: Buffer;
}

export interface SealedPieces extends Sealed {
  readonly firstNo: number;
  readonly lastNo: number;
}

export type KeptStatus = "running" | "completed" | "failed" | "cancelled";

export interface KeptTurnState {
  readonly status: KeptStatus;
  /** Whether the process that ran it is gone. */
  readonly isOrphan: boolean;
  readonly end: Sealed | null;
  /** Which documents the model had been shown when the last of `pieces` was written. */
  readonly documentIds: readonly string[];
  /** Pieces after the number that was asked for, in order. */
  readonly pieces: readonly SealedPieces[];
}

const KEPT_FOR = "interval '24 hours'";

interface FoundTurn {
  readonly turn_id: string;
  readonly body_hash: Buffer;
  readonly created_at: Date;
}

/**
 * Takes the key for a new turn, unless another turn has it. A turn that failed without a piece, or is over a
 * day old, loses it.
 * @returns the turn that has the key; undefined if the new one has got it.
 */
export async function claimKeptTurn(
  db: Database,
  { organization, callerId, key }: KeptTurnKey,
  turn: { readonly id: string; readonly apiProcessId: string; readonly bodyHash: Buffer },
): Promise<FoundTurn | undefined> {
  return inTenant(db, organization, async (sql) => {
    await sql.query(
      `delete from kept_turns
       where caller_id = $1
         and key = $2
         and (created_at < now() - ${KEPT_FOR} or (status = 'failed' and piece_count = 0))`,
      [callerId, key],
    );
    const { rowCount } = await sql.query(
      `insert into kept_turns (turn_id, organization_id, caller_id, key, body_hash, api_process_id)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (caller_id, key) do nothing`,
      [turn.id, organization.id, callerId, key, turn.bodyHash, turn.apiProcessId],
    );
    if (rowCount === 1) return undefined;
    const { rows } = await sql.query<FoundTurn>(
      `update kept_turns
       set read_at = now()
       where caller_id = $1
         and key = $2
       returning turn_id, body_hash, created_at`,
      [callerId, key],
    );
    return rows[0];
  });
}

export async function hasKeptTurn(
  db: Database,
  { organization, callerId, key }: KeptTurnKey,
): Promise<boolean> {
  const { rowCount } = await inTenant(db, organization, (sql) =>
    sql.query(
      `select
       from kept_turns
       where caller_id = $1
         and key = $2`,
      [callerId, key],
    ),
  );
  return rowCount === 1;
}

/** Frees the key of a turn that never began. */
export async function dropKeptTurn(
  db: Database,
  organization: OrganizationRef,
  turnId: string,
): Promise<void> {
  await inTenant(db, organization, (sql) => sql.query("delete from kept_turns where turn_id = $1", [turnId]));
}

/** Adds pieces and the documents behind them, and closes with `end`, in one transaction. Idempotent. */
export async function writeKeptTurn(
  db: Database,
  turn: {
    readonly organization: OrganizationRef;
    readonly id: string;
    readonly documentIds: readonly string[] | null;
  },
  pieces: SealedPieces | null,
  end: (Sealed & { readonly status: KeptStatus; readonly pieceCount: number }) | null,
): Promise<void> {
  await inTenant(db, turn.organization, async (sql) => {
    if (turn.documentIds !== null)
      await sql.query("update kept_turns set document_ids = $2 where turn_id = $1", [
        turn.id,
        turn.documentIds,
      ]);
    if (pieces !== null) {
      await sql.query(
        `insert into kept_turn_pieces (turn_id, organization_id, first_no, last_no, key_id, sealed)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (turn_id, first_no) do nothing`,
        [turn.id, turn.organization.id, pieces.firstNo, pieces.lastNo, pieces.keyId, pieces.sealed],
      );
    }
    if (end !== null) {
      const { keyId, sealed, status, pieceCount } = end;
      await sql.query(
        `update kept_turns
         set status = $2,
             piece_count = $3,
             key_id = $4,
             sealed_end = $5
         where turn_id = $1`,
        [turn.id, status, pieceCount, keyId, sealed],
      );
    }
  });
}

/** Reads what follows piece `afterNo`, in one snapshot. @returns undefined if the turn is kept no more. */
export async function readKeptTurn(
  db: Database,
  organization: OrganizationRef,
  turnId: string,
  afterNo: number,
): Promise<KeptTurnState | undefined> {
  const read = async (sql: Sql): Promise<KeptTurnState | undefined> => {
    const { rows } = await sql.query<{
      status: KeptStatus;
      is_orphan: boolean;
      key_id: string | null;
      sealed_end: Buffer | null;
      document_ids: string[];
    }>(
      `select turn.status,
              turn.key_id,
              turn.sealed_end,
              coalesce(turn.document_ids, '{}') as document_ids,
              turn.status = 'running' and not ${IS_HELD} as is_orphan
       from kept_turns turn
       where turn.turn_id = $1`,
      [turnId],
    );
    const [state] = rows;
    if (state === undefined) return undefined;
    const { rows: pieces } = await sql.query<SealedPieces>(
      `select first_no as "firstNo",
              last_no as "lastNo",
              key_id as "keyId",
              sealed
       from kept_turn_pieces
       where turn_id = $1
         and last_no > $2
       order by first_no`,
      [turnId, afterNo],
    );
    const { key_id: keyId, sealed_end: sealed } = state;
    return {
      status: state.status,
      isOrphan: state.is_orphan,
      end: keyId === null || sealed === null ? null : { keyId, sealed },
      documentIds: state.document_ids,
      pieces,
    };
  };
  return inTenant(db, organization, read, "isolation level repeatable read");
}

/** Whether the process that took the key is there, and the turn has begun or may begin: it has not ended. */
export async function isKeptTurnUnderWay(
  db: Database,
  organization: OrganizationRef,
  turnId: string,
): Promise<boolean> {
  const { rowCount } = await readTenant(db, organization, (sql) =>
    sql.query(
      `select
       from kept_turns kept
       where kept.turn_id = $1
         and ${IS_HELD}
         and not exists (
           select
           from turns turn
           where turn.id = kept.turn_id
             and turn.status <> 'open'
         )`,
      [turnId],
    ),
  );
  return rowCount === 1;
}

/** Notes that somebody reads the answer now. */
export async function touchKeptTurn(
  db: Database,
  organization: OrganizationRef,
  turnId: string,
): Promise<void> {
  await inTenant(db, organization, (sql) =>
    sql.query("update kept_turns set read_at = now() where turn_id = $1", [turnId]),
  );
}

/** @returns milliseconds since somebody last read the answer; 0 if it is not kept. */
export async function keptTurnUnreadMs(
  db: Database,
  organization: OrganizationRef,
  turnId: string,
): Promise<number> {
  const { rows } = await inTenant(db, organization, (sql) =>
    sql.query<{ unread_ms: number }>(
      `select (extract(epoch from now() - read_at) * 1000)::float8 as unread_ms
       from kept_turns
       where turn_id = $1`,
      [turnId],
    ),
  );
  return rows[0]?.unread_ms ?? 0;
}
