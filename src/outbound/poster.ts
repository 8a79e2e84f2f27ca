/** Posts deliveries to receivers that users name: only to fit addresses, and bounded in time and size. */
import {
  type ClientRequest,
  type IncomingMessage,
  Agent as HttpAgent,
  request as httpRequest,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { parseRetryAfter } from "../domain/retry-after.ts";
import { type AddressRules, publicAddresses, systemAddresses } from "./addresses.ts";
import { isAllowedHost } from "./hosts.ts";
import { addressesByDns } from "./names.ts";
import { createSlots } from "../process/concurrency/slots.ts";
import { refusalOfTarget } from "./webhook-target.ts";

interface Message {
  /** Whose attempt it is: one owner takes only a part of the attempts at once. */
  readonly owner: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Answer {
  /** Null if there was none. */
  readonly status: number | null;
  /** Null if it is a success; else a code such as `status_500`, `redirect`, `timeout` or `private_target`. */
  readonly failure: string | null;
  /** What `Retry-After` says. */
  readonly retryAfterMs: number | null;
}

export interface Poster {
  /**
   * Never rejects: a receiver that cannot be reached is an answer too.
   * @param isOver asked when the attempt's turn has come; if it is true then, nothing is sent.
   * @returns undefined if nothing was sent.
   */
  post(message: Message, isOver?: () => boolean): Promise<Answer | undefined>;
  close(): void;
}

interface PosterRules extends AddressRules {
  /** Hosts that may be private, and may be asked by http. */
  readonly allowHosts: readonly string[];
  readonly timeoutMs?: number;
  readonly atOnce?: number;
  readonly atOnceOfOwner?: number;
}

const TIMEOUT_MS = 10_000;
const AT_ONCE = 256;
/** Receivers that are slow on purpose may hold each attempt until its time is over. */
const AT_ONCE_OF_OWNER = 64;
const ANSWER_BYTES = 65_536;
/** Such as `100 Continue`; reading them costs as much as a receiver wants to send. */
const PROVISIONAL_ANSWERS = 16;
const IDLE_MS = 15_000;
const IDLE_SOCKETS_A_HOST = 32;

interface Sending {
  readonly message: Message;
  readonly url: URL;
  readonly agent: HttpAgent;
  readonly timeoutMs: number;
}

class RefusedTarget extends Error {}

/**
 * A connection is used again only for the host that it was made for, and the addresses of a name are judged
 * at each new connection, which goes to one of the very addresses that were judged. By default 10 s for a
 * whole answer, and 256 attempts at once, of which 64 are one owner's; of an answer at most 64 KB are read.
 */
export function createPoster(rules: PosterRules): Poster {
  const { timeoutMs = TIMEOUT_MS, allowHosts } = rules;
  const options = {
    keepAlive: true,
    maxFreeSockets: IDLE_SOCKETS_A_HOST,
    timeout: IDLE_MS,
    lookup: createLookup(rules),
  };
  const agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };
  const slots = createSlots({
    atOnce: rules.atOnce ?? AT_ONCE,
    ofOwner: rules.atOnceOfOwner ?? AT_ONCE_OF_OWNER,
  });

  const attempt = async (message: Message): Promise<Answer> => {
    const url = new URL(message.url);
    const refusal = refusalOfTarget(url, allowHosts);
    if (refusal !== undefined) return failed(refusal);
    const agent = agents[url.protocol === "https:" ? "https:" : "http:"];
    try {
      return await send({ message, url, agent, timeoutMs });
    } catch (error) {
      return failed(codeOf(error));
    }
  };

  return {
    post: (message, isOver = () => false) =>
      slots.run(message.owner, async () => (isOver() ? undefined : attempt(message))),
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

const failed = (failure: string): Answer => ({ status: null, failure, retryAfterMs: null });

/**
 * Names that are being resolved share one look-up. Only names that the operator allows are resolved as the
 * system does it: two names at a time, so that servers that hang would stop every look-up of the process.
 */
function createLookup({ allowHosts, ...rules }: PosterRules): LookupFunction {
  const running = new Map<string, ReturnType<typeof publicAddresses>>();
  const { resolve = systemAddresses } = rules;
  const strict = { resolve: addressesByDns, ...rules };
  const find = (host: string): ReturnType<typeof publicAddresses> => {
    const current = running.get(host);
    if (current !== undefined) return current;
    const started = (isAllowedHost(host, allowHosts) ? resolve(host) : publicAddresses(host, strict)).finally(
      () => running.delete(host),
    );
    running.set(host, started);
    return started;
  };
  const answer = callbackify(find);
  return (host, options, callback) => {
    answer(host, (error, addresses) => {
      if (error) return callback(error, "");
      const [first] = addresses;
      if (first === undefined) return callback(new RefusedTarget("private_target"), "");
      if (options.all === true) return callback(null, [...addresses]);
      return callback(null, first.address, first.family);
    });
  };
}

/** Repeated once if the receiver had closed the connection, which was kept for it, before its use. */
async function send({ message, url, agent, timeoutMs }: Sending, isSecond = false): Promise<Answer> {
  const body = Buffer.from(message.body);
  const call = url.protocol === "https:" ? httpsRequest : httpRequest;
  const request = call(url, {
    method: "POST",
    agent,
    headers: { ...message.headers, "content-length": body.byteLength },
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    request.destroy();
  }, timeoutMs);
  try {
    const response = await firstAnswer(request, body);
    await drain(response);
    return answerOf(response);
  } catch (error) {
    if (isLate) return failed("timeout");
    if (request.reusedSocket && !isSecond) return await send({ message, url, agent, timeoutMs }, true);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends the body and waits for the head of the answer.
 * @throws Error if there is none, or if the receiver keeps sending something else.
 */
async function firstAnswer(request: ClientRequest, body: Buffer): Promise<IncomingMessage> {
  let provisional = 0;
  return new Promise((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
    // An answer that switches to another protocol closes the connection without an error.
    request.on("close", () => reject(new Error("The connection was closed without an answer")));
    request.on("information", () => {
      provisional += 1;
      if (provisional > PROVISIONAL_ANSWERS) request.destroy();
    });
    request.end(body);
  });
}

/** Reads the answer to its end, to use its connection again. A bad body counts by its status. */
async function drain(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > ANSWER_BYTES) break;
    }
  } catch {
    response.destroy();
  }
}

function answerOf({ statusCode = 0, headers }: IncomingMessage): Answer {
  const seconds = parseRetryAfter(headers["retry-after"]);
  const retryAfterMs = seconds === undefined ? null : seconds * 1_000;
  if (statusCode >= 200 && statusCode < 300) return { status: statusCode, failure: null, retryAfterMs: null };
  const failure = statusCode >= 300 && statusCode < 400 ? "redirect" : `status_${statusCode}`;
  return { status: statusCode, failure, retryAfterMs };
}

function codeOf(error: unknown): string {
  if (error instanceof RefusedTarget) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|EBADNAME|EAI_)/.test(code)) return "name_not_found";
  if (/CERT|SSL|TLS|SELF_SIGNED|ISSUER/.test(code)) return "tls";
  return "unreachable";
}
