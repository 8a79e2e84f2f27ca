/** Goes on with an answer whose connection broke, in whichever process the client comes to. */
import { setTimeout as sleep } from "node:timers/promises";
import { readMcpAnswer } from "../../db/mcp/answers.ts";
import type { McpSession } from "../../db/mcp/sessions.ts";
import { type RawAnswer, stream, type StreamAnswer } from "../response.ts";
import { openEventStream } from "../sse.ts";
import type { McpContext } from "./answer-request.ts";
import { eventIdOf, openMessages } from "./kept-answer.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";

const PING_MS = 15_000;
const LOOK_EVERY_MS = 250;
/** The caller's rights are looked up again so often. */
const RIGHTS_EVERY_MS = 15_000;

interface Place {
  readonly streamId: string;
  /** The last message that the client has. */
  readonly no: number;
}

/** @throws RpcError for an answer that the session does not have, or that is not kept any more */
export async function resumeAnswer(
  { deps, principal, request }: McpContext,
  session: McpSession,
  { streamId, no }: Place,
): Promise<RawAnswer | StreamAnswer> {
  const key = { organization: principal.organization, sessionId: session.id, streamId };
  const first = await readMcpAnswer(deps.db, key, no);
  if (first === undefined) throw new RpcError(RPC_CODES.invalidRequest, "There is nothing to go on with");
  const leave = deps.events.seats.take(principal, "stream");
  request.res.once("close", leave);
  if (request.res.destroyed) leave();
  return stream(async (res) => {
    const events = openEventStream(res, { pingMs: PING_MS });
    let last = no;
    let checkedAt = performance.now();
    for (let answer: typeof first | undefined = first; ; answer = await readMcpAnswer(deps.db, key, last)) {
      if (answer === undefined) break;
      for (const { no: at, text } of await openMessages(deps, key, answer.messages)) {
        await events.send(text, eventIdOf(streamId, at), "message");
        last = at;
      }
      if (answer.isOrphan) await events.send(lost(answer.requestId), undefined, "message");
      if (answer.isEnded || answer.isOrphan || events.closed.aborted || deps.events.hub.isDraining) break;
      await sleep(LOOK_EVERY_MS, undefined, { signal: events.closed }).catch(() => undefined);
      if (performance.now() - checkedAt < RIGHTS_EVERY_MS) continue;
      checkedAt = performance.now();
      const mayGoOn = await request.authenticateAgain().catch(() => undefined);
      if (mayGoOn === undefined) break;
    }
    events.end();
  });
}

/** The process that ran the request is gone, and nothing runs it again. */
function lost(requestId: string): string {
  const error = { code: RPC_CODES.internal, message: "The request was lost with its process: ask again" };
  return JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(requestId) as unknown, error });
}
