/** Reads and writes the responses that are kept. */
import { setTimeout as sleep } from "node:timers/promises";
import { findDocumentPlaces } from "../../db/documents/search.ts";
import { inTenant, readTenant } from "../../db/pool.ts";
import { readResponseEvents } from "../../db/responses/events.ts";
import {
  type NewResponse,
  type ResponseRow,
  deleteResponse,
  endResponse,
  findResponse,
  putResponse,
} from "../../db/responses/responses.ts";
import { notFound } from "../../domain/not-found.ts";
import { callerIdOf } from "../../domain/tenancy/ownership.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { TurnResult } from "../turns/turn.ts";
import type { ResponsesDeps } from "./deps.ts";
import { foldEvents } from "./fold.ts";
import { type ResponseObject, itemId, shownItems, uuidOfItem } from "./items.ts";
import {
  type KeptRequest,
  insistently,
  openEvents,
  openRequest,
  openResponse,
  sealRequest,
  sealResponse,
} from "./sealed.ts";

export interface StoredResponse {
  readonly row: ResponseRow;
  readonly request: KeptRequest;
  readonly response: ResponseObject;
}

interface Begun {
  readonly ended: Promise<TurnResult>;
  /** Whether it is written at once. */
  readonly isUrgent: boolean;
}

export interface ResponseStore {
  /** Writes a response behind its answer: it is found at once by this process, and soon by others. */
  keepEnd(response: NewResponse, request: KeptRequest, ended: ResponseObject): void;
  /** Writes that a response is under way, unless it ends soon. */
  keepBegin(response: NewResponse, request: KeptRequest, when: Begun): void;
  /** Keeps nothing of a response that was refused. */
  drop(response: NewResponse): void;
  /**
   * @throws DomainError `response_not_found` if the caller has no such response, or does not reach a document any
   *   more that it may tell about.
   */
  find(principal: Principal, id: string): Promise<StoredResponse>;
  /** @throws as {@link ResponseStore.find}. */
  findRow(principal: Principal, id: string): Promise<ResponseRow>;
  /** Resolves when all is written, or after `timeoutMs`. */
  flushed(timeoutMs: number): Promise<void>;
}

/** A response that ends sooner is written once. */
const BEGINS_AFTER_MS = 250;
/** How long a response that another process has just answered with is waited for. */
export const WRITTEN_WITHIN_MS = 400;
export const LOOK_MS = 50;

/** What is being written behind answers. */
interface Writes {
  readonly writing: Map<string, Promise<void>>;
  readonly begins: Map<string, NodeJS.Timeout>;
}

export function createResponseStore(deps: ResponsesDeps): ResponseStore {
  const writes: Writes = { writing: new Map(), begins: new Map() };
  return {
    ...writingTo(deps, writes),
    ...readingFrom(deps, writes.writing),
    async flushed(timeoutMs) {
      const written = Promise.all(writes.writing.values());
      await Promise.race([written, sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}

function writingTo(
  deps: ResponsesDeps,
  { writing, begins }: Writes,
): Pick<ResponseStore, "keepBegin" | "keepEnd" | "drop"> {
  const { db, log } = deps;
  /** Those that are written as under way: without a row they were deleted meanwhile, and stay so. */
  const begun = new Set<string>();
  const track = (id: string, write: () => Promise<unknown>): void => {
    const before = writing.get(id) ?? Promise.resolve();
    const written = before
      .then(() => insistently(write))
      .then(
        () => undefined,
        (error: unknown) => log.error({ err: error, turn_id: id }, "a response could not be kept"),
      )
      .finally(() => {
        if (writing.get(id) === written) writing.delete(id);
      });
    writing.set(id, written);
  };
  const forget = (id: string): void => {
    clearTimeout(begins.get(id));
    begins.delete(id);
  };
  return {
    keepBegin(response, request, { ended, isUrgent }) {
      const { organization, id } = response;
      const write = (): void => {
        begins.delete(id);
        track(id, async () => {
          await putResponse(db, response, await sealRequest(deps, organization.id, id, request), null);
          begun.add(id);
        });
      };
      if (isUrgent) return write();
      begins.set(id, setTimeout(write, BEGINS_AFTER_MS));
      void ended.then(() => forget(id));
    },
    drop({ organization, id, callerId }) {
      forget(id);
      track(id, async () => {
        await inTenant(db, organization, (sql) => deleteResponse(sql, callerId, id));
        begun.delete(id);
      });
    },
    keepEnd(response, request, ended) {
      const { organization, id } = response;
      forget(id);
      track(id, async () => {
        const sealed = await sealResponse(deps, organization.id, id, ended);
        const end = { ...sealed, status: ended.status, itemIds: itemIdsOf(ended) };
        if (begun.has(id))
          await endResponse(db, { organization, id, attempt: null }, end, response.documentIds);
        else await putResponse(db, response, await sealRequest(deps, organization.id, id, request), end);
        begun.delete(id);
      });
    },
  };
}

function readingFrom(
  deps: ResponsesDeps,
  writing: ReadonlyMap<string, Promise<void>>,
): Pick<ResponseStore, "find" | "findRow"> {
  const { db } = deps;
  const findRow = async (principal: Principal, id: string): Promise<ResponseRow> => {
    await writing.get(id);
    const { organization } = principal;
    const row = await soon(id, () => findResponse(db, organization, callerIdOf(principal), id));
    await requireReached(deps, principal, row.document_ids);
    return row;
  };
  const find = async (principal: Principal, id: string): Promise<StoredResponse> => {
    const row = await findRow(principal, id);
    const request = await openRequest(deps, principal.organization.id, row);
    return { row, request, response: await responseOf(deps, principal, row, request) };
  };
  return { find, findRow };
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

/** The UUIDs of the items of its output. */
export const itemIdsOf = ({ output }: ResponseObject): string[] =>
  output.flatMap(({ id }) => uuidOfItem(id) ?? []);

/** By the time in its id: another process may not have written it yet. */
export function wasJustMade(id: string): boolean {
  const at = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  return Math.abs(Date.now() - at) < 2 * WRITTEN_WITHIN_MS;
}

/** @throws DomainError `response_not_found` if the caller does not reach all of the documents any more. */
export async function requireReached(
  { db }: ResponsesDeps,
  { organization, reach }: Principal,
  documentIds: readonly string[],
): Promise<void> {
  if (documentIds.length === 0) return;
  const places = await readTenant(db, organization, (sql) => findDocumentPlaces(sql, reach, documentIds));
  if (places.length < new Set(documentIds).size) throw notFound("response");
}

async function responseOf(
  deps: ResponsesDeps,
  { organization }: Principal,
  row: ResponseRow,
  request: KeptRequest,
): Promise<ResponseObject> {
  if (row.response !== null) return openResponse(deps, organization.id, row.id, row.response);
  const { items } = row.is_background
    ? foldEvents((await eventsAfter(deps, organization, row.id, -1)).map(({ event }) => event))
    : { items: [] };
  const isLost = row.is_orphan && !row.is_background;
  return unfinished(row, request, items, isLost);
}

/** A response that has not ended; one that was lost has failed. */
function unfinished(
  row: ResponseRow,
  { echo }: KeptRequest,
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

export async function eventsAfter(
  deps: ResponsesDeps,
  organization: Principal["organization"] | { readonly id: string; readonly num: number },
  id: string,
  afterNo: number,
) {
  const lists = await readResponseEvents(deps.db, organization, id, afterNo);
  const events = await openEvents(deps, organization.id, id, lists);
  return events.filter(({ event }) => event.sequence_number > afterNo);
}

/** Ends a response that is under way as cancelled, with what it has written so far. */
export async function cancelStored(
  deps: ResponsesDeps,
  principal: Principal,
  { row, request, response }: StoredResponse,
): Promise<ResponseObject> {
  const cancelled: ResponseObject = {
    ...unfinished({ ...row, waiting_for: null }, request, response.output.map(cutItem), false),
    status: "cancelled",
  };
  const { id: org } = principal.organization;
  const sealed = await sealResponse(deps, org, row.id, cancelled);
  const end = { ...sealed, status: "cancelled" as const, itemIds: itemIdsOf(cancelled) };
  await endResponse(deps.db, { organization: principal.organization, id: row.id, attempt: null }, end, null);
  return cancelled;
}

function cutItem(item: ResponseObject["output"][number]): ResponseObject["output"][number] {
  return item.status === "completed" || item.status === "failed" ? item : { ...item, status: "incomplete" };
}

/** As a caller sees it. */
export function shown(response: ResponseObject, withResults: boolean): ResponseObject {
  return { ...response, output: shownItems(response.output, withResults) };
}
