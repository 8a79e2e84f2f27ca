/**
 * Runs responses in the background. Their events are written down as they come, and so outlive their client and
 * their process: another one takes up what a process that is gone has left.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findReachOf } from "../../db/responses/callers.ts";
import {
  type NewResponse,
  type ResponseFence,
  type TakenResponse,
  addResponseEvents,
  deleteResponse,
  endResponse,
  findHeldResponses,
  putResponse,
  releaseResponse,
  takeOrphans,
} from "../../db/responses/responses.ts";
import { inTenant, readTenant } from "../../db/pool.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { AnswerSink, Turn, TurnResult } from "../turns/turn.ts";
import type { ResponsesDeps } from "./deps.ts";
import { type DraftHead, type DraftStart, ResponseDraft } from "./draft.ts";
import { foldEvents } from "./fold.ts";
import type { ResponseEvent, ResponseObject } from "./items.ts";
import { type PreparedResponse, findModel, prepare } from "./prepare.ts";
import { type KeptRequest, insistently, openRequest, sealEvents, sealRequest, sealResponse } from "./sealed.ts";
import { eventsAfter, itemIdsOf } from "./store.ts";

export interface Background {
  /**
   * Begins a response and resolves when it is written down and its first model call is under way.
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
const WRITE_EVERY_MS = 100;
/** Ends of a turn that say nothing about the response: another process goes on. */
const OF_THE_PROCESS = new Set(["turn_lost", "shutting_down", "overloaded", "workflows_unavailable"]);

export function createBackground(deps: ResponsesDeps): Background {
  const { db, log, chat } = deps;
  const running = new Map<string, BackgroundRun>();
  let isBusy = false;

  const run = async (given: RunGiven): Promise<BackgroundRun> => {
    const { id } = given.fence;
    const one = new BackgroundRun(deps, given);
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
      await run(await takenUp(deps, row, fence));
    } catch (error) {
      log.warn({ err: error, turn_id: row.id }, "a response in the background waits for another try");
      await sleep(SWEEP_MS);
      await releaseResponse(db, fence);
    }
  };
  const sweep = async (): Promise<void> => {
    await dropLost(deps, running);
    const taken = await takeOrphans(db, chat.apiProcessId, TAKEN_AT_ONCE);
    await Promise.all(taken.map(takeUp));
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    sweep()
      .catch((error: unknown) => log.warn({ err: error }, "responses that are left could not be looked for"))
      .finally(() => {
        isBusy = false;
      });
  }, SWEEP_MS);
  timer.unref();

  return {
    sweep,
    async start(response, request, prepared) {
      const sealed = await sealRequest(deps, response.organization.id, response.id, request);
      await putResponse(db, response, sealed, null);
      const fence = { organization: response.organization, id: response.id, attempt: 1 };
      try {
        const head = headOf(response.id, response.createdAt, prepared);
        const one = await run({ fence, head, prepared, start: undefined, documentIds: response.documentIds });
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
    stop: () => clearInterval(timer),
  };
}

/** Drops what was cancelled or deleted elsewhere, or taken by another process. */
async function dropLost({ db }: ResponsesDeps, running: ReadonlyMap<string, BackgroundRun>): Promise<void> {
  if (running.size === 0) return;
  const held = [...running.values()].map(({ fence }) => fence);
  const left = new Set(await findHeldResponses(db, held));
  for (const { id } of held) if (!left.has(id)) running.get(id)?.drop();
}

function headOf(id: string, createdAt: Date, { echo, agent, showsResults }: PreparedResponse): DraftHead {
  return {
    id,
    createdAt: Math.floor(createdAt.getTime() / 1_000),
    echo,
    isBackground: true,
    showsResults,
    showsCitations: agent.show_citations,
  };
}

/** What was asked, with the rights that the caller has now, and what was written so far. */
async function takenUp(deps: ResponsesDeps, row: TakenResponse, fence: ResponseFence): Promise<RunGiven> {
  const { organization } = fence;
  const request = await openRequest(deps, organization.id, row);
  const events = await eventsAfter(deps, organization, row.id, -1);
  const start = foldEvents(events.map(({ event }) => event));
  const given = { fence, start, documentIds: row.document_ids };
  const head = {
    id: row.id,
    createdAt: Math.floor(row.created_at.getTime() / 1_000),
    echo: request.echo,
    isBackground: true,
    showsResults: false,
    showsCitations: false,
  };
  try {
    if (row.attempt > ATTEMPTS_MAX)
      throw new DomainError("turn_lost", "The response was lost with its process too often.");
    const principal = await principalOf(deps, organization, request);
    const agent = await findModel(deps, principal, request.body.model);
    const prepared = await prepare(deps, principal, agent, request.body, request);
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
  { caller }: KeptRequest,
): Promise<Principal> {
  const spaces = await readTenant(db, organization, (sql) =>
    findReachOf(sql, caller.user.id, caller.apiKeyId),
  );
  if (spaces === undefined) throw new DomainError("not_found", "The caller is gone.");
  return {
    ...caller,
    capabilities: new Set(caller.capabilities),
    reach: new Map(spaces.map((space) => [space.id, space])),
  };
}

interface RunGiven {
  readonly fence: ResponseFence;
  readonly head: DraftHead;
  readonly start: DraftStart | undefined;
  readonly documentIds: readonly string[];
  readonly prepared?: PreparedResponse;
  /** Set in place of `prepared` if it cannot go on. */
  readonly failure?: DomainError;
}

/** One attempt at a response, in the memory of this process. */
class BackgroundRun {
  readonly fence: ResponseFence;
  readonly ended: Promise<void>;
  readonly #deps: ResponsesDeps;
  readonly #given: RunGiven;
  readonly #draft: ResponseDraft;
  readonly #end = Promise.withResolvers<void>();
  readonly #documents: Set<string>;
  #documentsWritten: number;
  #waiting: string[] = [];
  #firstNo: number;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #turn: Turn | undefined;
  #isDropped = false;
  #queued: ResponseObject | undefined;

  constructor(deps: ResponsesDeps, given: RunGiven) {
    this.#deps = deps;
    this.#given = given;
    this.fence = given.fence;
    this.ended = this.#end.promise;
    this.#documents = new Set(given.documentIds);
    this.#documentsWritten = this.#documents.size;
    this.#firstNo = given.start?.nextNo ?? 0;
    this.#draft = new ResponseDraft(given.head, (event) => this.#take(event), given.start);
  }

  /** The response as the caller is first told of it. */
  get queued(): ResponseObject {
    return this.#queued ?? this.#draft.response;
  }

  /** Begins the turn. @throws what `ChatHost.begin` throws. */
  async begin(): Promise<void> {
    const { prepared, failure, start } = this.#given;
    if (start !== undefined) this.#draft.closeBroken();
    if ((start?.nextNo ?? 0) === 0) this.#draft.begin();
    this.#queued = { ...this.#draft.response, status: "queued" };
    if (prepared === undefined) return this.#finish({ status: "failed", error: failure ?? lost() });
    const sink: AnswerSink = {
      isCommitted: true,
      begun: () => undefined,
      shown: (ids) => ids.forEach((id) => this.#documents.add(id)),
      content: (text) => this.#draft.text(text),
      search: (progress) => this.#draft.search(progress),
    };
    const first = this.fence.attempt === 1 ? { id: this.fence.id } : {};
    const request = { ...prepared.turn, ...first };
    const turn = await this.#deps.chat.begin(request, sink, new AbortController().signal);
    this.#turn = turn;
    if (this.#isDropped) turn.abort();
    void turn.result.then((result) => this.#finish(result));
  }

  /** Somebody else has ended it: what comes now is written nowhere. */
  drop(): void {
    this.#isDropped = true;
    this.#waiting = [];
    this.#turn?.abort();
    this.#end.resolve();
  }

  /** Resolves when what has come so far is written. */
  async flushed(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #take(event: ResponseEvent): undefined {
    if (this.#isDropped) return;
    this.#waiting.push(JSON.stringify(event));
    this.#timer ??= setTimeout(() => this.#write(), WRITE_EVERY_MS);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const texts = this.#waiting;
    if (texts.length === 0) return;
    this.#waiting = [];
    const firstNo = this.#firstNo;
    this.#firstNo += texts.length;
    this.#writing = this.#writing
      .then(() => insistently(() => this.#writeEvents(firstNo, texts)))
      .catch((error: unknown) => this.#giveUp(error));
  }

  async #writeEvents(firstNo: number, texts: readonly string[]): Promise<void> {
    if (this.#isDropped) return;
    const { organization, id } = this.fence;
    const documentIds = this.#documents.size > this.#documentsWritten ? [...this.#documents] : null;
    const events = await sealEvents(this.#deps, organization.id, id, firstNo, texts);
    const isMine = await addResponseEvents(this.#deps.db, this.fence, events, documentIds);
    this.#documentsWritten = documentIds?.length ?? this.#documentsWritten;
    if (!isMine) this.drop();
  }

  #giveUp(error: unknown): void {
    this.#deps.log.error({ err: error, turn_id: this.fence.id }, "a response could not be written");
    this.drop();
  }

  async #finish(result: TurnResult): Promise<void> {
    if (this.#isDropped) return;
    try {
      if (result.status === "failed" && OF_THE_PROCESS.has(result.error.code) && this.#given.failure === undefined)
        return await this.#release();
      this.#draft.finish(result);
      await this.flushed();
      await this.#writeEnd();
    } catch (error) {
      this.#giveUp(error);
    } finally {
      this.#end.resolve();
    }
  }

  async #writeEnd(): Promise<void> {
    const { kept } = this.#draft;
    const { organization, id, attempt } = this.fence;
    await insistently(async () => {
      if (this.#isDropped) return;
      const sealed = await sealResponse(this.#deps, organization.id, id, kept);
      const end = { ...sealed, status: kept.status, itemIds: itemIdsOf(kept) };
      await endResponse(this.#deps.db, { organization, id }, attempt, end, [...this.#documents]);
    });
  }

  /** The next process that looks goes on behind what is written. */
  async #release(): Promise<void> {
    await this.flushed();
    await releaseResponse(this.#deps.db, this.fence);
  }
}

function lost(): DomainError {
  return new DomainError("turn_lost", "The response was lost with its process.");
}
