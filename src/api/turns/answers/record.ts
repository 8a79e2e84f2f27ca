/** Keeps the answers of turns with an Idempotency-Key: writes their pieces as they come. */
import { setTimeout as sleep } from "node:timers/promises";
import { type OrganizationRef } from "../../../db/pool.ts";
import { dropKeptTurn, keptTurnUnreadMs, touchKeptTurn } from "../../../db/turns/kept-answers.ts";
import type { Turn, TurnResult } from "../turn.ts";
import { type RecordEvent, type Reader, readRecord } from "./read-record.ts";
import { writeSealed } from "./sealed-record.ts";
import { LOOKS, type RecordPlace, type TurnRecordsDeps, UNREAD_MAX_MS } from "./record-deps.ts";

export interface TurnRecord {
  /** Takes the next piece of the answer. @returns its number, from 1. */
  piece(text: string): number;
  /** The model is shown these documents: what it says from now on may come from them. */
  shown(documentIds: readonly string[]): void;
  /** Records the turn's end. If its client has left, the turn is cancelled once nobody reads it. */
  attach(turn: Turn): void;
  /** Frees the key of a turn that never began. */
  drop(): Promise<void>;
  /** Call it when the connection that began the turn is gone. */
  clientLeft(): void;
}

export interface TurnRecords {
  open(organization: OrganizationRef, turnId: string): TurnRecord;
  /**
   * Reads the answer after piece `afterNo` as it comes, whichever process writes it.
   * @throws DomainError `turn_lost` if the process that ran the turn is gone, or if it was cancelled because
   *   nobody read it; `not_found` if the reader does not reach every document that the answer may tell about.
   */
  read(reader: Reader, turnId: string, afterNo: number, signal: AbortSignal): AsyncGenerator<RecordEvent>;
  /** Resolves when all that was recorded is written, or after `timeoutMs`. */
  flushed(timeoutMs: number): Promise<void>;
}

const WRITE_EVERY_MS = 100;

export function createTurnRecords(deps: TurnRecordsDeps): TurnRecords {
  const writing = new Set<Promise<void>>();
  const track = (written: Promise<void>): void => {
    writing.add(written);
    void written.then(() => writing.delete(written));
  };
  return {
    open: (organization, turnId) => new Recording(deps, { organization, turnId }, track),
    read: (reader, turnId, afterNo, signal) => readRecord(deps, { ...reader, turnId }, afterNo, signal),
    async flushed(timeoutMs) {
      await Promise.race([Promise.all(writing), sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}

class Recording implements TurnRecord {
  readonly #deps: TurnRecordsDeps;
  readonly #place: RecordPlace;
  /** Told of each write; the promise never rejects. */
  readonly #track: (written: Promise<void>) => void;
  readonly #waiting: string[] = [];
  readonly #documents = new Set<string>();
  #documentsWritten = 0;
  #pieceCount = 0;
  #lastWrite: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #turn: Turn | undefined;
  #hasClientLeft = false;

  constructor(deps: TurnRecordsDeps, place: RecordPlace, track: (written: Promise<void>) => void) {
    this.#deps = deps;
    this.#place = place;
    this.#track = track;
  }

  piece(text: string): number {
    this.#waiting.push(text);
    this.#timer ??= setTimeout(() => this.#write(null), WRITE_EVERY_MS);
    this.#pieceCount += 1;
    return this.#pieceCount;
  }

  shown(documentIds: readonly string[]): void {
    for (const id of documentIds) this.#documents.add(id);
  }

  attach(turn: Turn): void {
    this.#turn = turn;
    void turn.result.then((result) => this.#write(result));
    if (this.#hasClientLeft) cancelIfUnread(this.#deps, this.#place, turn);
  }

  drop(): Promise<void> {
    return dropKeptTurn(this.#deps.db, this.#place.organization, this.#place.turnId);
  }

  clientLeft(): void {
    if (this.#hasClientLeft) return;
    this.#hasClientLeft = true;
    if (this.#turn !== undefined) cancelIfUnread(this.#deps, this.#place, this.#turn);
  }

  /** Writes what waits, after the write before it; with `result`, as the last of the answer. */
  #write(result: TurnResult | null): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const texts = this.#waiting.splice(0);
    const pieceCount = this.#pieceCount;
    const firstNo = pieceCount - texts.length + 1;
    const end = result === null ? null : { pieceCount, result };
    const written = this.#lastWrite.then(async () => {
      const documentIds = this.#documents.size > this.#documentsWritten ? [...this.#documents] : null;
      await writeSealed(this.#deps, { ...this.#place, firstNo, texts, documentIds }, end);
      this.#documentsWritten = documentIds?.length ?? this.#documentsWritten;
    });
    this.#lastWrite = written.catch((error: unknown) =>
      this.#deps.log.error({ err: error, turn_id: this.#place.turnId }, "a kept answer could not be written"),
    );
    this.#track(this.#lastWrite);
  }
}

/** Cancels the turn once nobody has read its answer for too long, in this process or another. */
function cancelIfUnread(
  { db, log, unreadMaxMs = UNREAD_MAX_MS }: TurnRecordsDeps,
  { organization, turnId }: RecordPlace,
  turn: Turn,
): void {
  const watch = async (): Promise<void> => {
    await touchKeptTurn(db, organization, turnId);
    while (turn.status === undefined) {
      await sleep(unreadMaxMs / LOOKS, undefined, { ref: false });
      if (turn.status === undefined && (await keptTurnUnreadMs(db, organization, turnId)) >= unreadMaxMs)
        turn.abort();
    }
  };
  watch().catch((error: unknown) => {
    log.warn({ err: error, turn_id: turnId }, "could not check for readers of a kept answer");
    turn.abort();
  });
}
