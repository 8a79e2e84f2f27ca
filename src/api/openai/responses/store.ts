/** Reads and writes the responses that are kept. */
import { setTimeout as sleep } from "node:timers/promises";
import { inTenant, type OrganizationRef } from "../../../db/pool.ts";
import { readResponseEvents } from "../../../db/responses/events.ts";
import { readItems } from "../../../db/responses/items.ts";
import {
  type NewResponse,
  type ResponseRow,
  deleteResponse,
  findResponse,
  readSealedRequest,
  readSealedResponse,
} from "../../../db/responses/responses.ts";
import { notFound } from "../../../domain/not-found.ts";
import { callerIdOf } from "../../../domain/tenancy/ownership.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponsesDeps } from "./deps.ts";
import { foldEvents } from "./fold.ts";
import { type OutputItem, type ResponseEvent, type ResponseObject, itemId, shownItems } from "./items.ts";
import { type KeptRequest, keepBegin, keepEnd } from "./kept/keep.ts";
import { requireReached } from "./reached.ts";
import { type RequestHead, insistently, openEvents, openHead, openItems, openResponse } from "./sealed.ts";

const EVENTS_PAGE_BYTES = 1_024 * 1_024;

interface StoredResponse {
  readonly row: ResponseRow;
  readonly response: ResponseObject;
}

export interface ResponseStore {
  /** Writes that a response is under way. @throws DomainError `response_quota_exceeded`. */
  keepBegin(response: NewResponse, request: KeptRequest): Promise<void>;
  /** Writes the end of a response behind its answer: this process finds it at once, others soon. */
  keepEnd(response: NewResponse, ended: ResponseObject): void;
  /** Keeps nothing of a response that was refused. */
  drop(response: NewResponse): void;
  /**
   * @throws DomainError `response_not_found` if the caller has no such response, or does not reach a document
   *   any more that it may tell about.
   */
  find(principal: Principal, id: string): Promise<StoredResponse>;
  /** Opens nothing. @throws as {@link ResponseStore.find}. */
  findRow(principal: Principal, id: string): Promise<ResponseRow>;
  /**
   * For stopping or deleting it, which reveals nothing of it: allowed even if its documents are now out of
   * reach.
   * @throws DomainError `response_not_found`.
   */
  findOwnRow(principal: Principal, id: string): Promise<ResponseRow>;
  /** Resolves when all is written that this process has answered the caller with. */
  written(principal: Principal): Promise<void>;
  /** Resolves when all is written, or after `timeoutMs`. */
  flushed(timeoutMs: number): Promise<void>;
}

/** How long a response that another process has just answered with is waited for. */
export const WRITTEN_WITHIN_MS = 400;
export const LOOK_MS = 50;

/** What is being written behind answers, by the response. It never rejects. */
type Writing = Map<string, { readonly callerId: string; readonly done: Promise<void> }>;

export function createResponseStore(deps: ResponsesDeps): ResponseStore {
  const writing: Writing = new Map();
  return {
    ...writingTo(deps, writing),
    ...readingFrom(deps, writing),
    async written(principal) {
      const callerId = callerIdOf(principal);
      const own = [...writing.values()].filter((write) => write.callerId === callerId);
      await Promise.all(own.map(({ done }) => done));
    },
    async flushed(timeoutMs) {
      const written = Promise.all([...writing.values()].map(({ done }) => done));
      await Promise.race([written, sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}

function writingTo(
  deps: ResponsesDeps,
  writing: Writing,
): Pick<ResponseStore, "keepBegin" | "keepEnd" | "drop"> {
  const { db, log } = deps;
  type Kept = Pick<NewResponse, "id" | "callerId">;
  const track = ({ id, callerId }: Kept, write: () => Promise<unknown>): void => {
    const before = writing.get(id)?.done ?? Promise.resolve();
    const done = before
      .then(() => insistently(write))
      .then(
        () => undefined,
        (error: unknown) => log.error({ err: error, turn_id: id }, "a response could not be kept"),
      )
      .finally(() => {
        if (writing.get(id)?.done === done) writing.delete(id);
      });
    writing.set(id, { callerId, done });
  };
  return {
    keepBegin: (response, request) => keepBegin(deps, response, request),
    drop({ organization, id, callerId }) {
      track({ id, callerId }, () => inTenant(db, organization, (sql) => deleteResponse(sql, callerId, id)));
    },
    keepEnd({ organization, id, callerId, documentIds }, ended) {
      track({ id, callerId }, () => keepEnd(deps, { organization, id, attempt: null }, ended, documentIds));
    },
  };
}

function readingFrom(
  deps: ResponsesDeps,
  writing: Writing,
): Pick<ResponseStore, "find" | "findRow" | "findOwnRow"> {
  const { db, sealing } = deps;
  const findOwnRow = async (principal: Principal, id: string): Promise<ResponseRow> => {
    await writing.get(id)?.done;
    return soon(id, () => findResponse(db, principal.organization, callerIdOf(principal), id));
  };
  const findRow = async (principal: Principal, id: string): Promise<ResponseRow> => {
    const row = await findOwnRow(principal, id);
    await requireReached(deps, principal, row.document_ids);
    return row;
  };
  const find = async (principal: Principal, id: string): Promise<StoredResponse> => {
    const row = await findRow(principal, id);
    const { organization } = principal;
    const response = await sealing.seated(organization.id, row.sealed_bytes, () =>
      responseOf(deps, organization, row),
    );
    return { row, response };
  };
  return { find, findRow, findOwnRow };
}

/** Waits a little for what was just made, which another process may not have written yet. */
async function soon<T>(id: string, look: () => Promise<T | undefined>): Promise<T> {
  const until = Date.now() + WRITTEN_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (!wasJustMade(id) || Date.now() > until) throw notFound("response");
    await sleep(LOOK_MS);
  }
}

/** By the time in its id: another process may not have written it yet. */
export function wasJustMade(id: string): boolean {
  const at = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  return Math.abs(Date.now() - at) < 2 * WRITTEN_WITHIN_MS;
}

/** @throws DomainError `response_not_found` if it was deleted meanwhile. */
async function responseOf(
  deps: ResponsesDeps,
  organization: Principal["organization"],
  row: ResponseRow,
): Promise<ResponseObject> {
  const { id } = row;
  if (!row.has_ended) {
    const isLost = row.is_orphan && !row.is_background;
    return unfinished(
      row,
      await headOf(deps, organization, row),
      await soFar(deps, organization, row),
      isLost,
    );
  }
  const sealed = await readSealedResponse(deps.db, organization, id);
  if (sealed === undefined) throw notFound("response");
  const response = await openResponse(deps, organization.id, id, sealed);
  const rows = await readItems(deps.db, organization, id, { isOutput: true });
  return { ...response, output: await openItems<OutputItem>(deps, organization.id, rows) };
}

/** What was asked, without the items. */
async function headOf(
  { db, ...deps }: ResponsesDeps,
  organization: Principal["organization"],
  { id }: ResponseRow,
): Promise<RequestHead> {
  const sealed = await readSealedRequest(db, organization, id);
  if (sealed === undefined) throw notFound("response");
  return openHead(deps, organization.id, id, sealed);
}

/** What a response that has not ended has written. */
async function soFar(
  deps: ResponsesDeps,
  organization: Principal["organization"],
  { id, is_background: isBackground }: ResponseRow,
): Promise<readonly OutputItem[]> {
  if (!isBackground) return [];
  return foldEvents(await allEvents(deps, organization, id)).items;
}

/** A response that has not ended; one that was lost has failed. */
function unfinished(
  row: ResponseRow,
  { echo }: RequestHead,
  output: ResponseObject["output"],
  isLost: boolean,
): ResponseObject {
  return {
    id: itemId("resp", row.id),
    object: "response",
    created_at: Math.floor(row.created_at.getTime() / 1_000),
    completed_at: null,
    status: isLost ? "failed" : row.status,
    background: row.is_background,
    error: isLost ? { code: "server_error", message: "The response was lost with its API process." } : null,
    incomplete_details: null,
    ...echo,
    output,
    usage: null,
    ...(row.waiting_for === null ? {} : { waiting_for: row.waiting_for }),
  };
}

/** The next events of a background response: about a mebibyte of them, so that a reader holds no more. */
export async function eventsAfter(
  deps: ResponsesDeps,
  organization: OrganizationRef,
  id: string,
  afterNo: number,
) {
  const lists = await readResponseEvents(deps.db, organization, { id, afterNo, maxBytes: EVENTS_PAGE_BYTES });
  const opened = await openEvents(deps, organization.id, id, lists);
  const bytes = lists.reduce((sum, { sealed }) => sum + sealed.length, 0);
  return {
    events: opened.filter(({ event }) => event.sequence_number > afterNo),
    mayHaveMore: bytes >= EVENTS_PAGE_BYTES,
  };
}

/** All events that are written so far. */
export async function allEvents(
  deps: ResponsesDeps,
  organization: OrganizationRef,
  id: string,
): Promise<ResponseEvent[]> {
  const all: ResponseEvent[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await eventsAfter(deps, organization, id, all.at(-1)?.sequence_number ?? -1);
    all.push(...page.events.map(({ event }) => event));
    hasMore = page.mayHaveMore;
  }
  return all;
}

/** Ends a response that is under way as cancelled, with what it has written so far. */
export async function cancelStored(
  deps: ResponsesDeps,
  { organization }: Principal,
  row: ResponseRow,
): Promise<ResponseObject> {
  const head = await headOf(deps, organization, row);
  const output = await soFar(deps, organization, row);
  const cancelled: ResponseObject = {
    ...unfinished({ ...row, waiting_for: null }, head, output.map(cutItem), false),
    status: "cancelled",
  };
  await keepEnd(deps, { organization, id: row.id, attempt: null }, cancelled, null);
  return cancelled;
}

function cutItem(item: ResponseObject["output"][number]): ResponseObject["output"][number] {
  return item.status === "completed" || item.status === "failed" ? item : { ...item, status: "incomplete" };
}

/** As a caller sees it. */
export function shown(response: ResponseObject, withResults: boolean): ResponseObject {
  return { ...response, output: shownItems(response.output, withResults) };
}
