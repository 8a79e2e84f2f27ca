/** One attempt at a response in the background, in the memory of this process. */
import { addResponseEvents } from "../../../db/responses/events.ts";
import { noteWaiting, postponeResponse, releaseResponse } from "../../../db/responses/orphans.ts";
import type { ResponseFence } from "../../../db/responses/responses.ts";
import { DomainError } from "../../../domain/errors.ts";
import { drillPoint } from "../../../telemetry/drill-point.ts";
import type { AnswerSink, Turn, TurnResult } from "../../turns/turn.ts";
import type { ResponsesDeps } from "./deps.ts";
import { type DraftHead, type DraftStart, ResponseDraft } from "./draft.ts";
import type { ResponseEvent, ResponseObject } from "./items.ts";
import type { PreparedResponse } from "./prepare.ts";
import { keepEnd } from "./kept/keep.ts";
import { insistently, sealEvents } from "./sealed.ts";

const WRITE_EVERY_MS = 100;
/** An attempt that took longer did not fail by an outage: the model itself does not end. It counts. */
const OUTAGE_WITHIN_MS = 240_000;
const FIRST_WAIT_SECONDS = 1;
const LONGEST_WAIT_SECONDS = 30;

/** Ends of a turn that say nothing about the response: it is tried again for as long as it is kept. */
export function isOutage(error: unknown): error is DomainError {
  return error instanceof DomainError && (error.passes || OF_THE_PROCESS.has(error.reason));
}

const OF_THE_PROCESS: ReadonlySet<string> = new Set(["turn_lost", "shutting_down", "overloaded"]);

/** Twice as long after each outage, or as long as the other side asks for. */
export function waitAfter({ code, retryAfterSeconds = 0 }: DomainError, outages: number) {
  const own = Math.min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** Math.min(outages, 5));
  return { code, waitSeconds: Math.max(own, retryAfterSeconds) };
}

export interface RunGiven {
  readonly fence: ResponseFence;
  readonly head: DraftHead;
  readonly start: DraftStart | undefined;
  readonly documentIds: readonly string[];
  /** How many attempts before were ended by outages. */
  readonly outages: number;
  readonly prepared?: PreparedResponse;
  /** Set in place of `prepared` if it cannot go on. */
  readonly failure?: DomainError;
}

export class BackgroundRun {
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
  #waitingFor: string | null = null;
  readonly #begunAtMs = Date.now();

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
      begun: () => this.#noteWaiting(null),
      waits: ({ code }) => this.#noteWaiting(code),
      shown: (ids) => ids.forEach((id) => this.#documents.add(id)),
      content: (text) => this.#draft.text(text),
      search: (progress) => this.#draft.search(progress),
    };
    const first = this.fence.attempt === 1 ? { id: this.fence.id } : {};
    const request = { ...prepared.turn, ...first };
    const turn = await this.#deps.chat.begin(request, sink);
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
    const documentIds = this.#documents.size > this.#documentsWritten ? [...this.#documents] : null;
    const events = await sealEvents(this.#deps, this.fence, firstNo, texts);
    const isMine = await addResponseEvents(this.#deps.db, this.fence, events, documentIds);
    this.#documentsWritten = documentIds?.length ?? this.#documentsWritten;
    if (!isMine) this.drop();
  }

  /** A turn tries its provider again for two minutes: a reader is told at once why it takes long. */
  #noteWaiting(code: string | null): void {
    if (code === this.#waitingFor || this.#isDropped) return;
    this.#waitingFor = code;
    this.#writing = this.#writing
      .then(() => insistently(() => noteWaiting(this.#deps.db, this.fence, code)))
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error, turn_id: this.fence.id }, "an outage could not be recorded"),
      );
  }

  #giveUp(error: unknown): void {
    this.#deps.log.error({ err: error, turn_id: this.fence.id }, "a response could not be written");
    this.drop();
  }

  async #finish(result: TurnResult): Promise<void> {
    if (this.#isDropped) return;
    try {
      if (result.status === "failed" && isOutage(result.error) && this.#given.failure === undefined)
        return await this.#release(result.error);
      this.#draft.finish(result);
      await this.flushed();
      await drillPoint("backgroundResponse: events written, end not written");
      await this.#writeEnd();
    } catch (error) {
      this.#giveUp(error);
    } finally {
      this.#end.resolve();
    }
  }

  async #writeEnd(): Promise<void> {
    const { kept } = this.#draft;
    await insistently(async () => {
      if (this.#isDropped) return;
      await keepEnd(this.#deps, this.fence, kept, [...this.#documents]);
    });
  }

  /** The next process that looks, once the outage may be over, goes on behind what is written. */
  async #release(error: DomainError): Promise<void> {
    await this.flushed();
    if (Date.now() - this.#begunAtMs > OUTAGE_WITHIN_MS) return releaseResponse(this.#deps.db, this.fence);
    await postponeResponse(this.#deps.db, this.fence, waitAfter(error, this.#given.outages));
  }
}

function lost(): DomainError {
  return new DomainError("turn_lost", "The response was lost because its process stopped.");
}
