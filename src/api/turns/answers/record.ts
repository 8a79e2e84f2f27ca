/** The only place that keeps the answers of turns with an Idempotency-Key: pieces sealed and written as they come, and read again. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type KeptTurnState,
  type Sealed,
  type SealedPieces,
  dropKeptTurn,
  keptTurnUnreadMs,
  readKeptTurn,
  touchKeptTurn,
  writeKeptTurn,
} from "../../../db/turns/kept-answers.ts";
import { findDocumentPlaces } from "../../../db/documents/search.ts";
import { type Database, type OrganizationKey, inTenant } from "../../../db/pool.ts";
import { DomainError, type ErrorCode } from "../../../domain/errors.ts";
import type { Reach } from "../../../domain/tenancy/principal.ts";
import type { Log } from "../../../process/log.ts";
import { type Keyring, openBytes, sealBytes } from "../../../storage/keys/keyring.ts";
import type { Turn, TurnResult } from "../turn.ts";

export interface TurnRecord {
  /** Takes the next piece of the answer. @returns its number, from 1. */
  piece(text: string): number;
  /** The pieces that follow may rest on these documents. */
  shown(documentIds: readonly string[]): void;
  /** Records the turn's end once it has one, and gives the turn up once nobody has read it for a while. */
  attach(turn: Turn): void;
  /** The turn never began: its key is free again. */
  drop(): Promise<void>;
  /** The connection that began the turn is gone. */
  clientLeft(): void;
}

/** What is read of a kept answer; exactly one `end` comes last. */
export type RecordEvent =
  | { readonly type: "piece"; readonly no: number; readonly text: string }
  | { readonly type: "end"; readonly pieceCount: number; readonly result: TurnResult };

/** Who asks for a kept answer again. */
interface Reader {
  readonly organization: OrganizationKey;
  readonly reach: Reach;
}

export interface TurnRecords {
  open(organization: OrganizationKey, turnId: string): TurnRecord;
  /**
   * The answer behind piece `afterNo`, from whichever process writes it, as it comes.
   * @throws DomainError `turn_lost` where the process that ran the turn is gone, or nobody read it for so long that it was cancelled;
   * `not_found` where the reader does not reach every document that it may rest on.
   */
  read(reader: Reader, turnId: string, afterNo: number, signal: AbortSignal): AsyncGenerator<RecordEvent>;
  /** Resolves when all that was recorded is written, or `timeoutMs` have passed. */
  flushed(timeoutMs: number): Promise<void>;
}

export interface TurnRecordsDeps {
  readonly db: Database;
  readonly log: Log;
  readonly keyring: Keyring;
  /** A turn that nobody reads is cancelled after this. */
  readonly unreadMaxMs?: number;
}

const WRITE_EVERY_MS = 100;
const READ_EVERY_MS = 100;
const UNREAD_MAX_MS = 60_000;
const RETRY_MS = 1_000;
const WRITE_ATTEMPTS = 30;
/** Looks and touches happen this often within {@link UNREAD_MAX_MS}. */
const LOOKS = 6;

interface KeptEnd {
  readonly pieceCount: number;
  readonly result:
    | Extract<TurnResult, { status: "completed" | "cancelled" }>
    | { readonly status: "failed"; readonly code: ErrorCode; readonly message: string };
}

export function createTurnRecords(deps: TurnRecordsDeps): TurnRecords {
  const { db, log } = deps;
  const writing = new Set<Promise<void>>();

  const open = (organization: OrganizationKey, turnId: string): TurnRecord => {
    const waiting: string[] = [];
    const documents = new Set<string>();
    let documentsWritten = 0;
    let count = 0;
    let queue: Promise<void> = Promise.resolve();
    let timer: NodeJS.Timeout | undefined;
    let turn: Turn | undefined;
    let hasLeft = false;

    const write = (result: TurnResult | null): void => {
      clearTimeout(timer);
      timer = undefined;
      const texts = waiting.splice(0);
      const firstNo = count - texts.length + 1;
      const end = result === null ? null : { pieceCount: count, result: keptResult(result) };
      const done = queue.then(async () => {
        const documentIds = documents.size > documentsWritten ? [...documents] : null;
        await writeOut(deps, { organization, turnId, firstNo, texts, documentIds }, end);
        documentsWritten = documentIds?.length ?? documentsWritten;
      });
      queue = done.catch((error: unknown) =>
        log.error({ err: error, turn_id: turnId }, "a kept answer could not be written"),
      );
      const tracked = queue;
      writing.add(tracked);
      void tracked.then(() => writing.delete(tracked));
    };
    return {
      piece(text) {
        waiting.push(text);
        timer ??= setTimeout(() => write(null), WRITE_EVERY_MS);
        return ++count;
      },
      shown(documentIds) {
        for (const id of documentIds) documents.add(id);
      },
      attach(started) {
        turn = started;
        void started.result.then(write);
        if (hasLeft) watchReaders(deps, { organization, turnId }, started);
      },
      drop: () => dropKeptTurn(db, organization, turnId),
      clientLeft() {
        if (hasLeft) return;
        hasLeft = true;
        if (turn !== undefined) watchReaders(deps, { organization, turnId }, turn);
      },
    };
  };

  return {
    open,
    read: (reader, turnId, afterNo, signal) => readRecord(deps, { ...reader, turnId }, afterNo, signal),
    async flushed(timeoutMs) {
      await Promise.race([Promise.all(writing), sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}

async function* readRecord(
  deps: TurnRecordsDeps,
  place: Place & Reader,
  afterNo: number,
  signal: AbortSignal,
): AsyncGenerator<RecordEvent> {
  const { db, unreadMaxMs = UNREAD_MAX_MS } = deps;
  const { organization, turnId } = place;
  let last = afterNo;
  let touchedAt = -Infinity;
  let reachedDocuments = 0;
  for (;;) {
    if (performance.now() - touchedAt > unreadMaxMs / LOOKS) {
      await touchKeptTurn(db, organization, turnId);
      touchedAt = performance.now();
    }
    const state = await readKeptTurn(db, organization, turnId, last);
    if (state !== undefined && state.documentIds.length > reachedDocuments) {
      await requireReached(db, place, state.documentIds);
      reachedDocuments = state.documentIds.length;
    }
    // Before the pieces: nobody is given the beginning of an answer that has no end.
    const end = await endOf(deps, place, state);
    for (const piece of await opened(deps, place, state?.pieces ?? [])) {
      if (piece.no <= last) continue;
      last = piece.no;
      yield piece;
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
    throw new DomainError("not_found", "The answer rests on a document that is not reachable any more.");
}

interface Place {
  readonly organization: OrganizationKey;
  readonly turnId: string;
}

/** Cancels the turn once nobody has read its answer for too long, in this process or another. */
function watchReaders(
  { db, log, unreadMaxMs = UNREAD_MAX_MS }: TurnRecordsDeps,
  { organization, turnId }: Place,
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
    log.warn({ err: error, turn_id: turnId }, "the readers of a kept answer could not be looked for");
    turn.abort();
  });
}

const aad = (turnId: string, what: string): Buffer => Buffer.from(`kept answer\0${turnId}\0${what}`);

async function writeOut(
  deps: TurnRecordsDeps,
  {
    organization,
    turnId,
    firstNo,
    texts,
    documentIds,
  }: Place & { firstNo: number; texts: readonly string[]; documentIds: readonly string[] | null },
  end: KeptEnd | null,
): Promise<void> {
  if (texts.length === 0 && end === null) return;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { id: keyId, secret } = await deps.keyring.current(organization.id);
      const seal = (value: unknown, what: string): Sealed => ({
        keyId,
        sealed: sealBytes(secret, Buffer.from(JSON.stringify(value)), aad(turnId, what)),
      });
      const pieces =
        texts.length === 0
          ? null
          : { ...seal(texts, String(firstNo)), firstNo, lastNo: firstNo + texts.length - 1 };
      const sealedEnd =
        end === null ? null : { ...seal(end, "end"), status: end.result.status, pieceCount: end.pieceCount };
      return await writeKeptTurn(deps.db, { organization, id: turnId, documentIds }, pieces, sealedEnd);
    } catch (error) {
      if (attempt >= WRITE_ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function opened(
  { keyring }: TurnRecordsDeps,
  { organization, turnId }: Place,
  pieces: readonly SealedPieces[],
): Promise<Extract<RecordEvent, { type: "piece" }>[]> {
  const lists = pieces.map(async ({ keyId, sealed, firstNo }) => {
    const { secret } = await keyring.byId(organization.id, keyId);
    const texts = JSON.parse(openBytes(secret, sealed, aad(turnId, String(firstNo))).toString()) as string[];
    return texts.map((text, index) => ({ type: "piece" as const, no: firstNo + index, text }));
  });
  return (await Promise.all(lists)).flat();
}

/** Undefined while the turn runs. */
async function endOf(
  { keyring }: TurnRecordsDeps,
  { organization, turnId }: Place,
  state: KeptTurnState | undefined,
): Promise<RecordEvent | undefined> {
  if (state === undefined || state.isOrphan)
    throw turnLost("The turn was lost with its API process; a new Idempotency-Key starts a new one.");
  if (state.end === null) return undefined;
  const { secret } = await keyring.byId(organization.id, state.end.keyId);
  const { result, pieceCount } = JSON.parse(
    openBytes(secret, state.end.sealed, aad(turnId, "end")).toString(),
  ) as KeptEnd;
  if (result.status === "cancelled")
    throw turnLost("The turn was cancelled because nobody read it; a new Idempotency-Key starts a new one.");
  if (result.status === "completed") return { type: "end", pieceCount, result };
  return {
    type: "end",
    pieceCount,
    result: { status: "failed", error: new DomainError(result.code, result.message) },
  };
}

function keptResult(result: TurnResult): KeptEnd["result"] {
  return result.status === "failed"
    ? { status: "failed", code: result.error.code, message: result.error.message }
    : result;
}

export function turnLost(message: string): DomainError {
  return new DomainError("turn_lost", message);
}
