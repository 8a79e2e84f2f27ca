/** Encrypts what is kept of a response with the organization's key, and decrypts it. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { SealedEvents } from "../../../db/responses/events.ts";
import type { ItemRow, NewItem } from "../../../db/responses/items.ts";
import type { ResponseFence } from "../../../db/responses/responses.ts";
import type { SealedText } from "../../../db/responses/sealed-text.ts";
import type { Capability, Principal } from "../../../domain/tenancy/principal.ts";
import type { ResponsesDeps } from "./deps.ts";
import type { KeptItem } from "./input.ts";
import type { ResponseEcho, ResponseEvent, ResponseObject } from "./items.ts";
import { itemLengths } from "./kept/lengths.ts";
import { inTurns, roughLength } from "./kept/sealing.ts";
import type { AskedBody } from "./prepare.ts";

/** What was asked: enough to show it, and for another process to begin again. */
export interface RequestHead {
  readonly body: AskedBody;
  readonly echo: ResponseEcho;
  readonly caller: KeptCaller;
}

/** With its items, and all those before them. */
export interface WholeRequest extends RequestHead {
  readonly before: readonly KeptItem[];
  readonly items: readonly KeptItem[];
}

/** The caller without its reach, which is looked up again. */
export interface KeptCaller extends Omit<Principal, "reach" | "capabilities"> {
  readonly capabilities: readonly Capability[];
}

export function keptCaller({ reach: _reach, capabilities, ...rest }: Principal): KeptCaller {
  return { ...rest, capabilities: [...capabilities] };
}

type SealingDeps = Pick<ResponsesDeps, "sealing">;

/** The additional authenticated data binds what is sealed to its response and its place in it. */
const aad = (id: string, what: string): Buffer => Buffer.from(`response\0${id}\0${what}`);
/** Versions before 0.10 sealed all items with it, as `request` and `response`. */
const HEAD = { request: "request head", response: "response head" };

export const sealHead = ({ sealing }: SealingDeps, org: string, id: string, head: RequestHead) =>
  sealing.seal(org, head, aad(id, HEAD.request));

export const openHead = ({ sealing }: SealingDeps, org: string, id: string, sealed: SealedText) =>
  sealing.open<RequestHead>(org, sealed, aad(id, HEAD.request));

/** Its output is not in it. */
export const sealResponse = ({ sealing }: SealingDeps, org: string, id: string, response: ResponseObject) =>
  sealing.seal(org, response, aad(id, HEAD.response));

export const openResponse = ({ sealing }: SealingDeps, org: string, id: string, sealed: SealedText) =>
  sealing.open<ResponseObject>(org, sealed, aad(id, HEAD.response));

export const digestOfId = (itemId: string): Buffer => createHash("sha256").update(itemId).digest();

const placeOf = (isOutput: boolean, place: number): string => `${isOutput ? "output" : "input"} ${place}`;

/** @param isOutput whether the items are the output of the response, else its input. */
export async function sealItems(
  { sealing }: SealingDeps,
  org: string,
  { id, isOutput }: { readonly id: string; readonly isOutput: boolean },
  items: readonly KeptItem[],
): Promise<NewItem[]> {
  return inTurns(items, roughLength, async (item, place) => {
    const { characters, ...sealed } = await sealing.seal(org, item, aad(id, placeOf(isOutput, place)));
    return { ...sealed, ...itemLengths(item, characters), idDigest: digestOfId(item.id) };
  });
}

export async function openItems<Item extends KeptItem>(
  { sealing }: SealingDeps,
  org: string,
  rows: readonly ItemRow[],
): Promise<Item[]> {
  return inTurns(
    rows,
    ({ characters }) => characters,
    (row) => sealing.open<Item>(org, row, aad(row.responseId, placeOf(row.isOutput, row.place))),
  );
}

/** @param texts the events as they are sent, in order, from number `firstNo` on. */
export async function sealEvents(
  deps: ResponsesDeps,
  { organization, id }: Pick<ResponseFence, "organization" | "id">,
  firstNo: number,
  texts: readonly string[],
): Promise<SealedEvents> {
  const { keyId, sealed } = await deps.sealing.seal(organization.id, texts, aad(id, `events ${firstNo}`));
  return { keyId, sealed, firstNo, lastNo: firstNo + texts.length - 1 };
}

/** The events of a list, as they were sent. */
export async function openEvents(
  deps: ResponsesDeps,
  org: string,
  id: string,
  lists: readonly SealedEvents[],
): Promise<{ readonly text: string; readonly event: ResponseEvent }[]> {
  const opened = await inTurns(
    lists,
    ({ sealed }) => sealed.length,
    (list) => deps.sealing.open<string[]>(org, list, aad(id, `events ${list.firstNo}`)),
  );
  return inTurns(
    opened.flat(),
    (text) => text.length,
    async (text) => ({ text, event: JSON.parse(text) as ResponseEvent }),
  );
}

const RETRY_MS = 1_000;
const WRITE_ATTEMPTS = 30;

/** Tries for half a minute. @throws the error of the last try. */
export async function insistently<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (attempt >= WRITE_ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}
