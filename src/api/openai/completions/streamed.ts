/** Answers a chat with a stream: as the turn's pieces come, or from a kept answer. */
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../../domain/errors.ts";
import { type StreamAnswer, stream } from "../../response.ts";
import { type ChunkOptions, type ChunkWriter, openChunkWriter } from "./chunks.ts";
import type { RecordEvent } from "../../turns/answers/read-record.ts";
import type { TurnRecord } from "../../turns/answers/record.ts";
import type { AnswerSink, Turn, TurnResult } from "../../turns/turn.ts";

export interface StreamOptions extends Omit<ChunkOptions, "head" | "afterNo"> {
  readonly head: Omit<ChunkOptions["head"], "id">;
  /** Tells of tools as they run: to who began the turn, and not to who reads it again. */
  readonly includeTools: boolean;
}

/**
 * Begins a turn by `begin` and waits for its first piece. After `pingMs` without one the response's head is
 * sent, so that no proxy takes the silence for a dead connection. With a `record` the pieces are kept, and
 * the turn goes on if its client leaves.
 * @throws DomainError of a turn that failed before its first byte; the response gets its status.
 */
export async function streamedAnswer(
  begin: (sink: AnswerSink) => Promise<Turn>,
  options: StreamOptions,
  record?: TurnRecord,
): Promise<StreamAnswer> {
  const opened = Promise.withResolvers<ChunkWriter>();
  const begun = Promise.withResolvers<void>();
  let isCommitted = false;
  const turn = await begin({
    get isCommitted() {
      return isCommitted;
    },
    begun() {
      isCommitted = true;
      begun.resolve();
    },
    shown: (documentIds) => record?.shown(documentIds),
    tools(progress) {
      if (options.includeTools) void opened.promise.then((writer) => writer.tools(progress));
    },
    async content(text) {
      const no = record?.piece(text);
      await (await opened.promise).content(text, no);
    },
  });
  const patience = setTimeout(begun.resolve, options.pingMs);
  await Promise.race([begun.promise, turn.result]);
  clearTimeout(patience);
  if (turn.status !== undefined && !isCommitted) throwFailure(await turn.result);
  isCommitted = true;
  const leave = (): void => (record === undefined ? turn.abort() : record.clientLeft());
  return stream(async (res) => {
    const writer = openChunkWriter(res, {
      ...options,
      head: { id: completionId(turn.row.id), ...options.head },
      afterNo: record === undefined ? undefined : -1,
    });
    // The client left between the first piece and now.
    if (res.destroyed) leave();
    writer.closed.addEventListener("abort", leave, { once: true });
    opened.resolve(writer);
    writer.finish(await turn.result);
  });
}

/** Streams a kept answer after event `afterNo`. @throws DomainError of a failed turn, and `turn_lost`. */
export async function replayedStream(
  events: AsyncGenerator<RecordEvent>,
  turnId: string,
  options: StreamOptions,
  afterNo: number,
): Promise<StreamAnswer> {
  const first = events.next();
  first.catch(() => undefined);
  const early = await Promise.race([first, sleep(options.pingMs, undefined, { ref: false })]);
  if (early?.value?.type === "end" && early.value.pieceCount === 0) throwFailure(early.value.result);
  return stream(async (res) => {
    const writer = openChunkWriter(res, {
      ...options,
      head: { id: completionId(turnId), ...options.head },
      afterNo,
    });
    try {
      for (let next = await first; next.done !== true; next = await events.next()) {
        if (next.value.type === "end") return writer.finish(next.value.result);
        await writer.content(next.value.text, next.value.no);
      }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      writer.finish({ status: "failed", error });
    }
  });
}

export function completionId(turnId: string): string {
  return `chatcmpl-${turnId}`;
}

/** @throws DomainError if the turn failed or was cancelled. */
export function throwFailure(result: TurnResult): void {
  if (result.status === "failed") throw result.error;
  if (result.status === "cancelled") throw new DomainError("cancelled", "The request was cancelled.");
}
