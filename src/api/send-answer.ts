/** Sends what a handler returned: JSON, at once or in pieces, a stream, or raw content. */
import { pipeline } from "node:stream/promises";
import type { Context } from "koa";
import type { Deps } from "./deps.ts";
import { jsonPieces } from "./json-answer.ts";
import { isRaw, isStream, sendRaw, stream, type StreamAnswer } from "./response.ts";
import type { Route } from "./route.ts";

export async function send(
  ctx: Context,
  route: Route,
  { answer, deps }: { answer: unknown; deps: Deps },
): Promise<void> {
  if (isStream(answer)) return sendStream(ctx, answer, deps);
  if (isRaw(answer)) return sendRaw(ctx, answer);
  const { status } = ctx;
  if (answer === undefined || status === 204 || route.response === undefined) {
    // Koa turns an empty body into 204 and drops the content headers.
    ctx.body = null;
    ctx.status = status;
    return;
  }
  const pieces = jsonPieces(route.response, answer);
  const first = await pieces.next();
  const second = await pieces.next();
  ctx.type = "json";
  if (second.done !== true)
    return sendStream(
      ctx,
      stream((res) => pipeline(chain(first.value, second.value, pieces), res)),
      deps,
    );
  ctx.body = first.value;
  ctx.status = status;
}

async function* chain(first: string, second: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield second;
  yield* rest;
}

function sendStream(ctx: Context, answer: StreamAnswer, { log }: Pick<Deps, "log">): void {
  ctx.respond = false;
  const { res } = ctx;
  if (ctx.method === "HEAD") {
    res.end();
    return;
  }
  answer.write(res).catch((error: unknown) => {
    // If the client went away, the response was destroyed for another reason: this error is no news.
    if (!res.destroyed || res.errored === error)
      log.error({ request_id: ctx.state["requestId"] as string, err: error }, "a streamed answer failed");
    res.destroy();
  });
}
