/** One attempt at a response in the background, in the memory of this process. */
import { addResponseEvents } from "../../db/responses/events.ts";
import { releaseResponse } from "../../db/responses/orphans.ts";
import { type ResponseFence, endResponse } from "../../db/responses/responses.ts";
import { DomainError } from "../../domain/errors.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import type { AnswerSink, Turn, TurnResult } from "../turns/turn.ts";
import type { ResponsesDeps } from "./deps.ts";
import { type DraftHead, type DraftStart, ResponseDraft } from "./draft.ts";
import type { ResponseEvent, ResponseObject } from "./items.ts";
import type { PreparedResponse } from "./prepare.ts";
import { insistently, sealEvents, sealResponse } from "./sealed.ts";
import { itemIdsOf } from "./store.ts";

const WRITE_EVERY_MS = 100;
/** Ends of a turn that say nothing about the response: another process goes on. */
const OF_THE_PROCESS = new Set(["turn_lost", "shutting_down", "overloaded", "workflows_unavailable"]);

export interface RunGiven {
  readonly fence: ResponseFence;
  readonly head: DraftHead;
  readonly start: DraftStart | undefined;
  readonly documentIds: readonly string[];
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
    const documentIds = this.#documents.size > this.#documentsWritten ? [...this.#documents] : null;
    const events = await sealEvents(this.#deps, this.fence, firstNo, texts);
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
      if (
        result.status === "failed" &&
        OF_THE_PROCESS.has(result.error.code) &&
        this.#given.failure === undefined
      )
        return await this.#release();
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
    const { organization, id } = this.fence;
    await insistently(async () => {
      if (this.#isDropped) return;
      const sealed = await sealResponse(this.#deps, organization.id, id, kept);
      const end = { ...sealed, status: kept.status, itemIds: itemIdsOf(kept) };
      await endResponse(this.#deps.db, this.fence, end, [...this.#documents]);
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
