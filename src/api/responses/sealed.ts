/** Encrypts what is kept of a response with the organization's key, and decrypts it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { SealedEvents } from "../../db/responses/events.ts";
import type { ResponseFence, ResponseRow, SealedText } from "../../db/responses/responses.ts";
import type { Capability, Principal } from "../../domain/tenancy/principal.ts";
import { openBytes, sealBytes } from "../../storage/keys/keyring.ts";
import type { ResponsesDeps } from "./deps.ts";
import type { KeptItem } from "./input.ts";
import type { ResponseEcho, ResponseEvent, ResponseObject } from "./items.ts";
import type { AskedBody } from "./prepare.ts";

/** What was asked: enough to show it, and for another process to begin again. */
export interface KeptRequest {
  readonly body: AskedBody;
  readonly echo: ResponseEcho;
  readonly before: readonly KeptItem[];
  readonly items: readonly KeptItem[];
  readonly caller: KeptCaller;
}

/** The caller without its reach, which is looked up again. */
export interface KeptCaller extends Omit<Principal, "reach" | "capabilities"> {
  readonly capabilities: readonly Capability[];
}

export function keptCaller({ reach: _reach, capabilities, ...rest }: Principal): KeptCaller {
  return { ...rest, capabilities: [...capabilities] };
}

/** The additional authenticated data binds what is sealed to its response and its place in it. */
const aad = (id: string, what: string): Buffer => Buffer.from(`response\0${id}\0${what}`);

async function seal(
  { keyring }: ResponsesDeps,
  organizationId: string,
  value: unknown,
  place: Buffer,
): Promise<SealedText> {
  const { id: keyId, secret } = await keyring.current(organizationId);
  return { keyId, sealed: sealBytes(secret, Buffer.from(JSON.stringify(value)), place) };
}

async function open<T>(
  { keyring }: ResponsesDeps,
  organizationId: string,
  { keyId, sealed }: SealedText,
  place: Buffer,
): Promise<T> {
  const { secret } = await keyring.byId(organizationId, keyId);
  return JSON.parse(openBytes(secret, sealed, place).toString()) as T;
}

export const sealRequest = (deps: ResponsesDeps, org: string, id: string, request: KeptRequest) =>
  seal(deps, org, request, aad(id, "request"));

export const openRequest = (deps: ResponsesDeps, org: string, { id, request }: ResponseRow) =>
  open<KeptRequest>(deps, org, request, aad(id, "request"));

export const sealResponse = (deps: ResponsesDeps, org: string, id: string, response: ResponseObject) =>
  seal(deps, org, response, aad(id, "response"));

export const openResponse = (deps: ResponsesDeps, org: string, id: string, sealed: SealedText) =>
  open<ResponseObject>(deps, org, sealed, aad(id, "response"));

/** @param texts the events as they are sent, in order, from number `firstNo` on. */
export async function sealEvents(
  deps: ResponsesDeps,
  { organization, id }: Pick<ResponseFence, "organization" | "id">,
  firstNo: number,
  texts: readonly string[],
): Promise<SealedEvents> {
  const sealed = await seal(deps, organization.id, texts, aad(id, `events ${firstNo}`));
  return { ...sealed, firstNo, lastNo: firstNo + texts.length - 1 };
}

/** The events of a list, as they were sent. */
export async function openEvents(
  deps: ResponsesDeps,
  org: string,
  id: string,
  lists: readonly SealedEvents[],
): Promise<{ readonly text: string; readonly event: ResponseEvent }[]> {
  const opened = await Promise.all(
    lists.map((list) => open<string[]>(deps, org, list, aad(id, `events ${list.firstNo}`))),
  );
  return opened.flat().map((text) => ({ text, event: JSON.parse(text) as ResponseEvent }));
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
