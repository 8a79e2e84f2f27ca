/** Reads a kept answer as it is written, by this process or another one. */
import { setTimeout as sleep } from "node:timers/promises";
import { findDocumentPlaces } from "../../../db/documents/search.ts";
import { type Database, type OrganizationRef, inTenant } from "../../../db/pool.ts";
import { type KeptTurnState, readKeptTurn, touchKeptTurn } from "../../../db/turns/kept-answers.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Reach } from "../../../domain/tenancy/principal.ts";
import type { TurnResult } from "../turn.ts";
import { LOOKS, type RecordPlace, type TurnRecordsDeps, UNREAD_MAX_MS } from "./record-deps.ts";
import { openEnd, openPieces } from "./sealed-record.ts";

/** The pieces of a kept answer; exactly one `end` comes last. */
export type RecordEvent =
  | { readonly type: "piece"; readonly no: number; readonly text: string }
  | { readonly type: "end"; readonly pieceCount: number; readonly result: TurnResult };

/** The caller who asks for a kept answer. */
export interface Reader {
  readonly organization: OrganizationRef;
  readonly reach: Reach;
}

const READ_EVERY_MS = 100;

/** @see `TurnRecords.read`, which says its errors. */
export async function* readRecord(
  deps: TurnRecordsDeps,
  place: RecordPlace & Reader,
  afterNo: number,
  signal: AbortSignal,
): AsyncGenerator<RecordEvent> {
  const { db, unreadMaxMs = UNREAD_MAX_MS } = deps;
  const { organization, turnId } = place;
  let lastNo = afterNo;
  let touchedAt = -Infinity;
  let documentsChecked = 0;
  for (;;) {
    if (performance.now() - touchedAt > unreadMaxMs / LOOKS) {
      await touchKeptTurn(db, organization, turnId);
      touchedAt = performance.now();
    }
    const state = await readKeptTurn(db, organization, turnId, lastNo);
    if (state !== undefined && state.documentIds.length > documentsChecked) {
      await requireReached(db, place, state.documentIds);
      documentsChecked = state.documentIds.length;
    }
    // Before the pieces: an answer that was lost throws here, so that nobody gets the beginning of it.
    const end = await endOf(deps, place, state);
    for (const piece of await openPieces(deps, place, state?.pieces ?? [])) {
      if (piece.no <= lastNo) continue;
      lastNo = piece.no;
      yield { type: "piece", ...piece };
    }
    if (end !== undefined) return yield end;
    await sleep(READ_EVERY_MS, undefined, { signal });
  }
}

/** An answer may tell what is in the documents that its model was shown. */
async function requireReached(
  db: Database,
  { organization, reach }: Reader,
  documentIds: readonly string[],
): Promise<void> {
  const places = await inTenant(db, organization, (sql) => findDocumentPlaces(sql, reach, documentIds));
  if (places.length < documentIds.length)
    throw new DomainError(
      "answer_not_found",
      "The answer is based on a document that you can no longer access.",
    );
}

/** Undefined while the turn runs. */
async function endOf(
  deps: TurnRecordsDeps,
  place: RecordPlace,
  state: KeptTurnState | undefined,
): Promise<RecordEvent | undefined> {
  if (state === undefined || state.isOrphan)
    throw turnLost(
      "The turn was lost because its API process stopped; send a new Idempotency-Key to start again.",
    );
  if (state.end === null) return undefined;
  const end = await openEnd(deps, place, state.end);
  if (end.result.status === "cancelled")
    throw turnLost(
      "The turn was cancelled because nobody read it; send a new Idempotency-Key to start again.",
    );
  return { type: "end", ...end };
}

export function turnLost(message: string): DomainError {
  return new DomainError("turn_lost", message);
}
