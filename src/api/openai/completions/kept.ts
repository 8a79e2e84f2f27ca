/** Answers repeats of a chat with one Idempotency-Key from a single turn, whichever process is asked. */
import { type KeptTurnKey, claimKeptTurn, hasKeptTurn } from "../../../db/turns/kept-answers.ts";
import type { Database } from "../../../db/pool.ts";
import { newId } from "../../../domain/ids.ts";
import { ValidationProblems, valueError } from "../../../schema/requests/problem.ts";
import type { ChatHost } from "../../turns/chat-host.ts";
import { type StreamOptions, replayedStream, streamedAnswer } from "./streamed.ts";
import { turnLost } from "../../turns/answers/read-record.ts";
import type { AnswerSink, Turn, TurnRequest } from "../../turns/turn.ts";
import { replayedWhole, wholeAnswer } from "./whole.ts";

export interface KeptRequest {
  readonly turn: TurnRequest;
  readonly key: KeptTurnKey;
  readonly bodyHash: Buffer;
  readonly signal: AbortSignal;
  /** The number of the last event that the client has seen; null if it has seen none. */
  readonly lastEventNo: number | null;
  readonly isStream: boolean;
  /** The name of the model in the request. */
  readonly model: string;
  readonly options: Omit<StreamOptions, "head">;
  readonly onBegun: (turn: Turn) => void;
}

/**
 * Begins the turn, or gives the answer of the turn that the key began, from its start or after `lastEventNo`.
 * The turn goes on while its client is away.
 * @throws ValidationProblems if the key came with another request; DomainError `turn_lost` if the turn has no
 *   answer any more, `not_found` if the caller no longer reaches a document that the answer may tell about.
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
export async function keptAnswer(db: Database, chat: ChatHost, request: KeptRequest) {
  const { key, bodyHash } = request;
  // A client that has seen a part of an answer must not begin, and pay for, another one.
  if (request.lastEventNo !== null && !(await hasKeptTurn(db, key)))
    throw turnLost("There is no longer a turn with this Idempotency-Key.");
  const id = newId();
  const found = await claimKeptTurn(db, key, { id, bodyHash, apiProcessId: chat.apiProcessId });
  if (found === undefined) return begin(chat, id, request);
  if (!found.body_hash.equals(bodyHash))
    throw new ValidationProblems([
      valueError(["header", "idempotency-key"], "the key was used with another request before"),
    ]);
  return replay(chat, found.turn_id, request);
}

function begin(
  chat: ChatHost,
  turnId: string,
  { turn: turnRequest, key, signal, isStream, model, options, onBegun }: KeptRequest,
) {
  const record = chat.records.open(key.organization, turnId);
  const start = async (sink: AnswerSink): Promise<Turn> => {
    try {
      const turn = await chat.begin({ ...turnRequest, id: turnId }, sink);
      onBegun(turn);
      record.attach(turn);
      if (signal.aborted) record.clientLeft();
      signal.addEventListener("abort", () => record.clientLeft(), { once: true });
      return turn;
    } catch (error) {
      await record.drop();
      throw error;
    }
  };
  const all = { ...options, head: headOf(turnId, model) };
  return isStream ? streamedAnswer(start, all, record) : wholeAnswer(start, all, record);
}

function replay(
  chat: ChatHost,
  turnId: string,
  { turn, key, signal, isStream, model, options, lastEventNo }: KeptRequest,
) {
  const all = { ...options, head: headOf(turnId, model) };
  const reader = { organization: key.organization, reach: turn.principal.reach };
  if (!isStream) return replayedWhole(chat.records.read(reader, turnId, 0, signal), turnId, all);
  const afterNo = lastEventNo ?? -1;
  return replayedStream(
    chat.records.read(reader, turnId, Math.max(0, afterNo), signal),
    turnId,
    all,
    afterNo,
  );
}

/**
 * The creation time is read from the turn's id, a UUID of version 7, so that every repeat says the same.
 * @see https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7
 */
function headOf(turnId: string, model: string): StreamOptions["head"] {
  return { created: Math.floor(Number.parseInt(turnId.replaceAll("-", "").slice(0, 12), 16) / 1_000), model };
}
