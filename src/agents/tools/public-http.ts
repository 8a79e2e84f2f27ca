/** Fetches web pages for a model: from allowed hosts, at public addresses, bounded in time and size. */
import type { LookupAddress } from "node:dns";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { DomainError } from "../../domain/errors.ts";
import { type AddressRules, bareHost, publicAddresses } from "../../outbound/addresses.ts";

export interface Page {
  /** The address after redirects. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly isCut: boolean;
}

interface FetchRules extends AddressRules {
  readonly isAllowed: (host: string) => boolean;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

const REDIRECTS_MAX = 5;
const BYTES_MAX = 1_048_576;
const TIMEOUT_MS = 10_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const TEXT_TYPE = /^(text\/|application\/([\w.-]+\+)?(json|xml|javascript|yaml|x-yaml|x-ndjson))/;

/**
 * Reads the text at `url`, by default at most 1 MiB within 10 s, over at most five redirects. Connects to the
 * very address that was checked, so that the name cannot resolve to another one in between (DNS rebinding).
 * Each redirect is checked as well.
 * @throws DomainError `invalid` if it is not an address of the web, `bad_request` if it is not allowed, is
 *   not text, or does not answer in time.
 * @see test/agents/tools/http-fetch.test.ts
 */
export async function fetchPublic(url: string, rules: FetchRules, signal: AbortSignal): Promise<Page> {
  const { maxBytes = BYTES_MAX, timeoutMs = TIMEOUT_MS } = rules;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    let at = url;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const target = checkedUrl(at, rules);
      const response = await get(target, await pinnedAddress(target, rules, bounded), bounded);
      const location = response.headers.location;
      if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined)
        return await readPage(target, response, maxBytes);
      response.destroy();
      at = new URL(location, target).href;
    }
    throw new DomainError("bad_request", "url: too many redirects");
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DomainError) throw error;
    if (bounded.aborted)
      throw new DomainError("bad_request", `url: no whole answer within ${timeoutMs / 1_000} s`);
    throw new DomainError(
      "bad_request",
      `url: cannot be read (${error instanceof Error && "code" in error ? String(error.code) : "failed"})`,
    );
  }
}

function checkedUrl(text: string, { isAllowed }: FetchRules): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new DomainError("invalid", "url: not an http or https address");
  if (url.username !== "" || url.password !== "")
    throw new DomainError("bad_request", "url: must not hold credentials");
  if (!isAllowed(url.hostname)) throw new DomainError("bad_request", "url: this host is not allowed");
  return url;
}

/** @throws DomainError `bad_request` if the host has an address that is not public, or none. */
async function pinnedAddress(url: URL, rules: FetchRules, signal: AbortSignal): Promise<LookupAddress> {
  const [first] = await abortable(publicAddresses(bareHost(url), rules), signal);
  if (first === undefined) throw new DomainError("bad_request", "url: the host has no public address");
  return first;
}

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    work.then(resolve, reject);
  });
}

function get(url: URL, { address, family }: LookupAddress, signal: AbortSignal): Promise<IncomingMessage> {
  const pinned: LookupFunction = (_host, options, callback) =>
    options.all === true ? callback(null, [{ address, family }]) : callback(null, address, family);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    // Without an agent each call opens its own connection: none to an unchecked address is used again.
    const made = send(
      url,
      {
        agent: false,
        lookup: pinned,
        signal,
        headers: { accept: "text/*, application/json;q=0.9, */*;q=0.1", "user-agent": "Holdfast" },
      },
      resolve,
    );
    made.on("error", reject);
    // An answer that switches to another protocol closes the connection without an error.
    made.on("close", () => reject(new Error("The connection was closed without an answer")));
    made.end();
  });
}

async function readPage(url: URL, response: IncomingMessage, maxBytes: number): Promise<Page> {
  const contentType = response.headers["content-type"] ?? "";
  if (contentType !== "" && !TEXT_TYPE.test(contentType)) {
    response.destroy();
    throw new DomainError("bad_request", "url: its content is no text");
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > maxBytes) break;
  }
  const text = new TextDecoder().decode(Buffer.concat(parts).subarray(0, maxBytes), { stream: true });
  return { url: url.href, status: response.statusCode ?? 0, contentType, text, isCut: bytes > maxBytes };
}
