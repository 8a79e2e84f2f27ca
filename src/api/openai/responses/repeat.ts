/** Answers a repeat of a request with the response that its Idempotency-Key began, in whichever process. */
import { setTimeout as sleep } from "node:timers/promises";
import { isKeptTurnUnderWay } from "../../../db/turns/kept-answers.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponseBody } from "../../../schema/openai/response-request.ts";
import type { StreamAnswer } from "../../response.ts";
import { turnLost } from "../../turns/answers/read-record.ts";
import type { ResponsesDeps } from "./deps.ts";
import { callerOf, followResponse, isComing } from "./follow.ts";
import type { ResponseObject } from "./items.ts";
import { includesResults } from "./prepare.ts";
import { type ResponseStore, shown } from "./store.ts";

interface Repeated {
  readonly body: ResponseBody;
  readonly signal: AbortSignal;
  readonly lookUp: () => Promise<Principal>;
  /** For a stream, and for whoever waits; a stream of one in the background has its seat already. */
  readonly takeSeat: () => void;
}

const LOOK_MS = 100;
/** A turn that has ended may be written down before its response is. */
const WRITTEN_WITHIN_MS = 400;
/** A turn takes up to eight minutes, and the files of its request may be read before it. */
const WAIT_MAX_MS = 600_000;

/** @throws DomainError `turn_lost` if nothing of the response is kept, nor will be. */
export async function repeat(
  { deps, store }: { readonly deps: ResponsesDeps; readonly store: ResponseStore },
  principal: Principal,
  { body, signal, lookUp, takeSeat }: Repeated,
  id: string,
): Promise<ResponseObject | StreamAnswer> {
  if (body.stream === true && body.background !== true) takeSeat();
  let isSeated = body.stream === true;
  const wait = (): void => {
    if (!isSeated) takeSeat();
    isSeated = true;
  };
  const withResults = includesResults(body.include);
  const now = callerOf({ principal, lookUp });
  try {
    await untilThere({ deps, store }, now, { id, signal, wait, isStream: body.stream === true });
    if (body.stream === true)
      return await followResponse(deps, store, { principal, lookUp, id, afterNo: -1, withResults });
    const { response } = await store.find(await now(), id);
    return shown(response, withResults);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw turnLost("Nothing is kept of the response of this Idempotency-Key; a new key makes a new one.");
  }
}

interface Awaited {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly isStream: boolean;
  /** Called before it waits. @throws DomainError `too_many_open`. */
  readonly wait: () => void;
}

/**
 * Resolves when there is a response to answer with: one to follow, or one that has ended. Its row comes only
 * when the request has been read and its turn begins, so that there is none for as long as that takes.
 * @throws DomainError `response_not_found` if none will come.
 */
async function untilThere(
  { deps, store }: { readonly deps: ResponsesDeps; readonly store: ResponseStore },
  now: () => Promise<Principal>,
  { id, signal, isStream, wait }: Awaited,
): Promise<void> {
  const until = Date.now() + WAIT_MAX_MS;
  for (let isUnderWay = true; Date.now() < until;) {
    const principal = await now();
    try {
      const row = await store.findRow(principal, id);
      if (isStream || row.is_background || !isComing(row)) return;
    } catch (error) {
      if (!isNotFound(error) || !isUnderWay) throw error;
      isUnderWay = await isKeptTurnUnderWay(deps.db, principal.organization, id);
    }
    wait();
    await sleep(isUnderWay ? LOOK_MS : WRITTEN_WITHIN_MS, undefined, { signal });
  }
  throw new DomainError("provider_timeout", "The response is not ready yet: retry with the same key.");
}

const isNotFound = (error: unknown): boolean => error instanceof DomainError && error.code === "not_found";
