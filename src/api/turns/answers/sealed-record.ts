/** Encrypts the pieces and the end of a kept answer with the organization's key, and decrypts them. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type KeptTurnState,
  type Sealed,
  type SealedPieces,
  writeKeptTurn,
} from "../../../db/turns/kept-answers.ts";
import { DomainError, type ErrorCode, type ErrorReason } from "../../../domain/errors.ts";
import { openBytes, sealBytes } from "../../../storage/keys/keyring.ts";
import type { TurnResult } from "../turn.ts";
import type { RecordPlace, TurnRecordsDeps } from "./record-deps.ts";

interface RecordPart extends RecordPlace {
  readonly firstNo: number;
  readonly texts: readonly string[];
  /** Null: as they were before. */
  readonly documentIds: readonly string[] | null;
}

interface RecordEnd {
  readonly pieceCount: number;
  readonly result: TurnResult;
}

/** The end as it is stored: an error by its code and message. */
interface StoredEnd {
  readonly pieceCount: number;
  readonly result:
    | Extract<TurnResult, { status: "completed" | "cancelled" }>
    | {
        readonly status: "failed";
        readonly code: ErrorCode;
        readonly reason: ErrorReason;
        readonly message: string;
      };
}

const RETRY_MS = 1_000;
const WRITE_ATTEMPTS = 30;

/** The additional authenticated data binds what is sealed to its turn and its place in the answer. */
const aad = (turnId: string, what: string): Buffer => Buffer.from(`kept answer\0${turnId}\0${what}`);

/** Tries for half a minute. @throws the error of the last try. */
export async function writeSealed(
  { keyring, db }: TurnRecordsDeps,
  { organization, turnId, firstNo, texts, documentIds }: RecordPart,
  end: RecordEnd | null,
): Promise<void> {
  if (texts.length === 0 && end === null) return;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { id: keyId, secret } = await keyring.current(organization.id);
      const seal = (value: unknown, what: string): Sealed => ({
        keyId,
        sealed: sealBytes(secret, Buffer.from(JSON.stringify(value)), aad(turnId, what)),
      });
      const lastNo = firstNo + texts.length - 1;
      const pieces = texts.length === 0 ? null : { ...seal(texts, String(firstNo)), firstNo, lastNo };
      const sealedEnd = end === null ? null : { ...seal(storedEnd(end), "end"), ...summaryOf(end) };
      return await writeKeptTurn(db, { organization, id: turnId, documentIds }, pieces, sealedEnd);
    } catch (error) {
      if (attempt >= WRITE_ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function summaryOf({ result, pieceCount }: RecordEnd) {
  return { status: result.status, pieceCount };
}

function storedEnd({ result, pieceCount }: RecordEnd): StoredEnd {
  if (result.status !== "failed") return { pieceCount, result };
  const { code, reason, message } = result.error;
  return { pieceCount, result: { status: "failed", code, reason, message } };
}

export async function openPieces(
  { keyring }: TurnRecordsDeps,
  { organization, turnId }: RecordPlace,
  pieces: readonly SealedPieces[],
): Promise<{ readonly no: number; readonly text: string }[]> {
  const lists = pieces.map(async ({ keyId, sealed, firstNo }) => {
    const { secret } = await keyring.byId(organization.id, keyId);
    const texts = JSON.parse(openBytes(secret, sealed, aad(turnId, String(firstNo))).toString()) as string[];
    return texts.map((text, index) => ({ no: firstNo + index, text }));
  });
  return (await Promise.all(lists)).flat();
}

export async function openEnd(
  { keyring }: TurnRecordsDeps,
  { organization, turnId }: RecordPlace,
  end: NonNullable<KeptTurnState["end"]>,
): Promise<RecordEnd> {
  const { secret } = await keyring.byId(organization.id, end.keyId);
  const text = openBytes(secret, end.sealed, aad(turnId, "end")).toString();
  const { result, pieceCount } = JSON.parse(text) as StoredEnd;
  if (result.status !== "failed") return { pieceCount, result };
  return {
    pieceCount,
    result: { status: "failed", error: new DomainError(result.reason, result.message) },
  };
}
