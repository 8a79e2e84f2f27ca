/** Goes on with an answer whose connection broke, in whichever process the client comes to. */
import { setTimeout as sleep } from "node:timers/promises";
import { findDocumentPlaces } from "../../db/documents/search.ts";
import { readMcpAnswer } from "../../db/mcp/answers.ts";
import type { McpSession } from "../../db/mcp/sessions.ts";
import { readTenant } from "../../db/pool.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { type RawAnswer, stream, type StreamAnswer } from "../response.ts";
import { type EventStream, openEventStream } from "../sse.ts";
import type { McpContext } from "./answer-request.ts";
import { eventIdOf, openMessages } from "./kept-answer.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";

const PING_MS = 15_000;
const LOOK_EVERY_MS = 250;
/** The caller's rights are looked up before each message, and so often without one. */
const RIGHTS_EVERY_MS = 15_000;

interface Place {
  readonly streamId: string;
  /** The last message that the client has. */
  readonly no: number;
}

type Answer = NonNullable<Awaited<ReturnType<typeof readMcpAnswer>>>;

/** @throws RpcError for an answer that the session does not have, or may not have any more */
export async function resumeAnswer(
  context: McpContext,
  session: McpSession,
  { streamId, no }: Place,
): Promise<RawAnswer | StreamAnswer> {
  const { deps, principal, request } = context;
  const key = { organization: principal.organization, sessionId: session.id, streamId };
  const first = await readMcpAnswer(deps.db, key, no);
  if (first === undefined || !(await isReached(context, principal, first)))
    throw new RpcError(RPC_CODES.invalidRequest, "There is nothing to resume");
  const leave = deps.events.seats.take(principal, "stream");
  request.res.once("close", leave);
  if (request.res.destroyed) leave();
  return stream(async (res) => {
    const events = openEventStream(res, { pingMs: PING_MS });
    let last = no;
    let checkedAt = performance.now();
    for (let answer: Answer | undefined = first; answer !== undefined;) {
      const isDue = answer.messages.length > 0 || performance.now() - checkedAt > RIGHTS_EVERY_MS;
      if (isDue && !(await mayGoOn(context, answer))) break;
      if (isDue) checkedAt = performance.now();
      last = await send(context, events, { key, answer, last });
      if (answer.isEnded || answer.isOrphan || events.closed.aborted || deps.events.hub.isDraining) break;
      await sleep(LOOK_EVERY_MS, undefined, { signal: events.closed }).catch(() => undefined);
      answer = await readMcpAnswer(deps.db, key, last);
    }
    events.end();
  });
}

interface Sent {
  readonly key: Parameters<typeof readMcpAnswer>[1];
  readonly answer: Answer;
  readonly last: number;
}

/** @returns the number of the last message that was sent */
async function send(context: McpContext, events: EventStream, { key, answer, last }: Sent): Promise<number> {
  let no = last;
  for (const message of await openMessages(context.deps, key, answer.messages)) {
    await events.send(message.text, eventIdOf(key.streamId, message.no), "message");
    no = message.no;
  }
  if (answer.isOrphan) await events.send(lost(answer.requestId), undefined, "message");
  return no;
}

async function mayGoOn(context: McpContext, answer: Answer): Promise<boolean> {
  const principal = await context.request.authenticateAgain().catch(() => undefined);
  return principal !== undefined && isReached(context, principal, answer);
}

/** An answer may tell of all that the caller reached when it began, and of the documents it was made of. */
async function isReached(
  { deps }: McpContext,
  { organization, reach }: Principal,
  { spaceIds, documentIds }: Answer,
): Promise<boolean> {
  if (!spaceIds.every((id) => reach.has(id))) return false;
  if (documentIds.length === 0) return true;
  const places = await readTenant(deps.db, organization, (sql) =>
    findDocumentPlaces(sql, reach, documentIds),
  );
  return places.length === documentIds.length;
}

/** The process that ran the request is gone, and nothing runs it again. */
function lost(requestId: string): string {
  const error = {
    code: RPC_CODES.internal,
    message: "The request was lost because its process stopped: send it again",
  };
  return JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(requestId) as unknown, error });
}
