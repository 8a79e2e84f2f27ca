/** Sends the events of a stored response, from any number on, as they are written. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ResponseRow } from "../../../db/responses/responses.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { type StreamAnswer, stream } from "../../response.ts";
import { type EventStream, openEventStream } from "../../sse.ts";
import type { ResponsesDeps } from "./deps.ts";
import { eventsOf, isLast } from "./fold.ts";
import type { ResponseEvent } from "./items.ts";
import { type ResponseStore, eventsAfter, shown } from "./store.ts";

export interface Followed {
  readonly id: string;
  /** -1: from the first event. */
  readonly afterNo: number;
  readonly withResults: boolean;
  readonly principal: Principal;
  /** Looks the caller up again, past all caches. @throws if it is let in no more. */
  readonly lookUp: () => Promise<Principal>;
}

const LOOK_MS = 100;
const WHOLE_LOOK_MS = 250;
/** How often the caller of a stream is looked up again. */
const LOOK_UP_EVERY_MS = 2_000;

/** @throws DomainError `response_not_found`. */
export async function followResponse(
  deps: ResponsesDeps,
  store: ResponseStore,
  followed: Followed,
): Promise<StreamAnswer> {
  const row = await store.findRow(followed.principal, followed.id);
  const { pingMs } = deps.chat;
  return stream(async (res) => {
    const writer = openEventStream(res, { pingMs });
    let lastNo = followed.afterNo;
    const send = async (event: ResponseEvent, text = JSON.stringify(event)): Promise<void> => {
      lastNo = event.sequence_number;
      await writer.send(text, undefined, event.type);
    };
    try {
      if (row.is_background) await followEvents(deps, store, followed, { writer, send });
      else await sendWhole(store, followed, { writer, send });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const { reason: code, message, param = null } = error;
      const told = { type: "error", sequence_number: lastNo + 1, code, message, param };
      await writer.send(JSON.stringify(told), undefined, "error");
    }
    writer.end();
  });
}

/** The caller with the rights of the last two seconds. */
export function callerOf({
  principal,
  lookUp,
}: Pick<Followed, "principal" | "lookUp">): () => Promise<Principal> {
  let known = principal;
  let knownAt = performance.now();
  return async () => {
    if (performance.now() - knownAt > LOOK_UP_EVERY_MS) {
      known = await lookUp();
      knownAt = performance.now();
    }
    return known;
  };
}

const isUnderWay = ({ status }: ResponseRow): boolean => status === "queued" || status === "in_progress";

/** Whether its end is still to come: a process that is gone brings none, unless another one takes it up. */
export const isComing = (row: ResponseRow): boolean =>
  isUnderWay(row) && (row.is_background || !row.is_orphan);

interface Sending {
  readonly writer: Pick<EventStream, "closed">;
  readonly send: (event: ResponseEvent, text?: string) => Promise<void>;
}

async function followEvents(
  deps: ResponsesDeps,
  store: ResponseStore,
  followed: Followed,
  { writer, send }: Sending,
): Promise<void> {
  const { id, afterNo } = followed;
  const now = callerOf(followed);
  for (let lastNo = afterNo; !writer.closed.aborted;) {
    // Before the events: if it has ended by now, all of them are there. It also checks what may be seen.
    const principal = await now();
    const row = await store.findRow(principal, id);
    const { events, mayHaveMore } = await eventsAfter(deps, principal.organization, id, lastNo);
    for (const { event, text } of events) {
      await send(event, text);
      lastNo = event.sequence_number;
      if (isLast(event)) return;
    }
    if (mayHaveMore) continue;
    if (!isUnderWay(row)) return;
    await sleep(LOOK_MS);
  }
}

/** The events of a response that was kept whole, once it has ended. */
async function sendWhole(store: ResponseStore, followed: Followed, { writer, send }: Sending): Promise<void> {
  const { id, afterNo, withResults } = followed;
  const now = callerOf(followed);
  while (!writer.closed.aborted) {
    const principal = await now();
    // It is opened once: its row says whether that is worth it.
    if (!isComing(await store.findRow(principal, id))) {
      const { response } = await store.find(principal, id);
      const left = eventsOf(shown(response, withResults)).slice(afterNo + 1);
      for (const event of left) await send(event);
      return;
    }
    await sleep(WHOLE_LOOK_MS);
  }
}
