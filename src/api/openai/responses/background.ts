/**
 * Runs responses in the background. Their events are written down as they come, and so outlive their client
 * and their process: another one takes up what a process that is gone has left.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { inTenant, readTenant } from "../../../db/pool.ts";
import { findCallerNow } from "../../../db/responses/callers.ts";
import {
  type TakenResponse,
  findHeldResponses,
  postponeResponse,
  releaseResponse,
  takeOrphans,
} from "../../../db/responses/orphans.ts";
import {
  type NewResponse,
  type ResponseFence,
  deleteResponse,
  readSealedRequest,
} from "../../../db/responses/responses.ts";
import { findContentsBefore } from "../../../db/responses/conversations.ts";
import { findInputPlaces, readItems } from "../../../db/responses/items.ts";
import { DomainError } from "../../../domain/errors.ts";
import { notFound } from "../../../domain/not-found.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { every } from "../../../process/concurrency/rounds.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import { BackgroundRun, isOutage, type RunGiven, waitAfter } from "./background-run.ts";
import { readChain } from "./conversation.ts";
import type { ResponsesDeps } from "./deps.ts";
import type { DraftHead, DraftStart } from "./draft.ts";
import { foldEvents, isLast } from "./fold.ts";
import type { ResponseEvent, ResponseObject } from "./items.ts";
import { type PreparedResponse, findModel, prepare } from "./prepare.ts";
import { type KeptRequest, keepBegin, keepEnd } from "./kept/keep.ts";
import { type WholeRequest, openHead, openItems } from "./sealed.ts";
import { allEvents } from "./store.ts";

export interface Background {
  /**
   * Begins a response; resolves when it is stored and its first model call is under way.
   * @throws what `ChatHost.begin` throws; then nothing is kept.
   */
  start(response: NewResponse, request: KeptRequest, prepared: PreparedResponse): Promise<ResponseObject>;
  /** Lets go of a response that was cancelled or deleted, if this process has it. */
  drop(id: string): void;
  /** Writes what waits to be written of a response, if this process has it. */
  flush(id: string): Promise<void>;
  /** Takes up what processes that are gone have left. */
  sweep(): Promise<void>;
  /** Resolves when nothing runs here any more, or after `timeoutMs`. */
  ended(timeoutMs: number): Promise<void>;
  /** Looks no more; what runs here goes on to the end of its turn. */
  stop(): void;
}

const SWEEP_MS = 1_000;
const TAKEN_AT_ONCE = 4;
/** A response with which so many processes were lost is not tried again. */
const ATTEMPTS_MAX = 5;
/** Nothing was tried before. */
const ANEW = { start: undefined, outages: 0 };

export function createBackground(deps: ResponsesDeps): Background {
  const { db, log, chat } = deps;
  const running = new Map<string, BackgroundRun>();
  const run = async (given: RunGiven): Promise<BackgroundRun> => {
    const { id } = given.fence;
    const one = new BackgroundRun(deps, given);
    // An attempt before, of this process too: its lease was lost.
    running.get(id)?.drop();
    running.set(id, one);
    void one.ended.then(() => {
      if (running.get(id) === one) running.delete(id);
    });
    try {
      await one.begin();
      return one;
    } catch (error) {
      running.delete(id);
      throw error;
    }
  };
  const takeUp = async (row: TakenResponse): Promise<void> => {
    const organization = { id: row.organization_id, num: row.organization_num };
    const fence = { organization, id: row.id, attempt: row.attempt };
    try {
      const events = await allEvents(deps, organization, row.id);
      const last = events.at(-1);
      if (last !== undefined && isLast(last)) return await endAsWritten(deps, fence, last);
      await run(await takenUp(deps, row, fence, foldEvents(events)));
    } catch (error) {
      await giveBack(deps, row, fence, error);
    }
  };
  const sweep = async (): Promise<void> => {
    await dropLost(deps, running);
    const taken = await takeOrphans(db, chat.apiProcessId, [...running.keys()], TAKEN_AT_ONCE);
    await Promise.all(taken.map(takeUp));
  };
  const rounds = every(SWEEP_MS, sweep, (error) =>
    log.warn({ err: error }, "could not check for abandoned responses"),
  );

  return {
    sweep,
    async start(response, request, prepared) {
      await keepBegin(deps, response, request);
      await drillPoint("backgroundResponse: written, turn not begun");
      const fence = { organization: response.organization, id: response.id, attempt: 1 };
      try {
        const head = headOf(response.id, response.createdAt, prepared);
        const { documentIds } = response;
        const one = await run({ fence, head, prepared, documentIds, ...ANEW });
        return one.queued;
      } catch (error) {
        await inTenant(db, response.organization, (sql) =>
          deleteResponse(sql, response.callerId, response.id),
        );
        throw error;
      }
    },
    drop: (id) => running.get(id)?.drop(),
    flush: async (id) => running.get(id)?.flushed(),
    async ended(timeoutMs) {
      const ends = [...running.values()].map((one) => one.ended);
      await Promise.race([Promise.all(ends), sleep(timeoutMs, undefined, { ref: false })]);
    },
    stop: () => void rounds.stop(),
  };
}

/** What could not be taken up is for whoever looks next. */
async function giveBack(
  { db, log }: ResponsesDeps,
  { id, outages }: TakenResponse,
  fence: ResponseFence,
  error: unknown,
): Promise<void> {
  log.warn({ err: error, turn_id: id }, "a background response is waiting for another attempt");
  if (isOutage(error)) return postponeResponse(db, fence, waitAfter(error, outages));
  await sleep(SWEEP_MS);
  return releaseResponse(db, fence);
}

/** Drops what was cancelled or deleted elsewhere, or taken by another process. */
async function dropLost({ db }: ResponsesDeps, running: ReadonlyMap<string, BackgroundRun>): Promise<void> {
  if (running.size === 0) return;
  const held = [...running.values()].map(({ fence }) => fence);
  const left = new Set(await findHeldResponses(db, held));
  for (const { id } of held) if (!left.has(id)) running.get(id)?.drop();
}

function headOf(
  id: string,
  createdAt: Date,
  { echo, agent, showsResults, fileIds }: PreparedResponse,
): DraftHead {
  return {
    id,
    createdAt: Math.floor(createdAt.getTime() / 1_000),
    echo,
    isBackground: true,
    showsResults,
    showsCitations: agent.show_citations,
    fileIds,
  };
}

/** Its process was lost after the last event: that has the whole response. */
async function endAsWritten(deps: ResponsesDeps, fence: ResponseFence, last: ResponseEvent): Promise<void> {
  await keepEnd(deps, fence, last["response"] as ResponseObject, null);
}

/** What was asked, with all that the model is shown. @throws DomainError `not_found` if it is gone. */
async function readRequest(deps: ResponsesDeps, { organization, id }: ResponseFence): Promise<WholeRequest> {
  const sealed = await readSealedRequest(deps.db, organization, id);
  if (sealed === undefined) throw notFound("response");
  const head = await openHead(deps, organization.id, id, sealed);
  const beforeId = await findContentsBefore(deps.db, organization, id);
  const before =
    beforeId === null
      ? []
      : await readChain(deps, organization, beforeId, {
          mayTruncate: head.body.truncation === "auto",
          characters: Number.POSITIVE_INFINITY,
        });
  const { characters } = await findInputPlaces(deps.db, organization, id, []);
  const items = await deps.sealing.seated(organization.id, characters, async () =>
    openItems(deps, organization.id, await readItems(deps.db, organization, id, { isOutput: false })),
  );
  return { ...head, before, items };
}

/** What was asked, with the rights that the caller has now, and what was written so far. */
async function takenUp(
  deps: ResponsesDeps,
  row: TakenResponse,
  fence: ResponseFence,
  start: DraftStart,
): Promise<RunGiven> {
  const request = await readRequest(deps, fence);
  const given = {
    fence,
    start,
    documentIds: row.document_ids,
    outages: row.outages,
  };
  const head = {
    id: row.id,
    createdAt: Math.floor(row.created_at.getTime() / 1_000),
    echo: request.echo,
    isBackground: true,
    showsResults: false,
    showsCitations: false,
  };
  try {
    if (row.attempt - row.outages > ATTEMPTS_MAX)
      throw new DomainError("turn_lost", "The response was lost too often because its process stopped.");
    const principal = await principalOf(deps, fence.organization, request);
    const agent = await findModel(deps, principal, request.body.model);
    const prepared = await prepare(deps, principal, agent, request);
    return { ...given, head: headOf(row.id, row.created_at, prepared), prepared };
  } catch (error) {
    if (!(error instanceof DomainError) || error.class !== "hopeless") throw error;
    return { ...given, head, failure: error };
  }
}

/** @throws DomainError `not_found` if the user or the key is gone. */
async function principalOf(
  { db }: ResponsesDeps,
  organization: { readonly id: string; readonly num: number },
  { caller }: WholeRequest,
): Promise<Principal> {
  const now = await readTenant(db, organization, (sql) =>
    findCallerNow(sql, caller.user.id, caller.apiKeyId),
  );
  if (now === undefined) throw new DomainError("not_found", "The caller is gone.");
  return {
    ...caller,
    capabilities: new Set(caller.capabilities),
    isMadeByOther: now.is_made_by_other,
    reach: new Map(now.spaces.map((space) => [space.id, space])),
  };
}
