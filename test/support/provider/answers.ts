/** Writes the answers of a scripted provider as an OpenAI-compatible one would. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChatAnswer, Fault, Json } from "./script.ts";

/** An estimate: four characters a token. */
export const countTokens = (text: string): number => Math.ceil(text.length / 4);

export function sendJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

export function sendFault(response: ServerResponse, fault: Fault): void {
  if ("hang" in fault) return;
  if ("cut" in fault) {
    response.destroy();
    return;
  }
  if ("garbage" in fault) {
    response.writeHead(200, { "content-type": "application/json" }).end("<html>not json");
    return;
  }
  const {
    status,
    headers = {},
    body = { error: { message: `scripted ${status}`, type: "scripted", code: `scripted_${status}` } },
  } = fault;
  sendJson(response, body, status, headers);
}

/** Answers a chat completion, as a stream if the request asks for one. */
export async function sendChatAnswer(
  body: Json,
  answer: ChatAnswer,
  response: ServerResponse,
): Promise<void> {
  if (body["stream"] === true) await sendStream(body, answer, response);
  else sendWhole(body, answer, response);
}

function usageOf(body: Json, answer: ChatAnswer): Json {
  const prompt = (body["messages"] ?? []).reduce(
    (sum: number, { content }: Json) => sum + countTokens(typeof content === "string" ? content : ""),
    0,
  );
  const completion =
    (answer.pieces ?? []).length +
    (answer.toolCalls ?? []).reduce((sum, call) => sum + countTokens(call.arguments), 0);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

const wireCalls = (answer: ChatAnswer) =>
  (answer.toolCalls ?? []).map((call, index) => ({
    index,
    id: call.id ?? `call_${index}`,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
const reasonOf = (answer: ChatAnswer): string =>
  answer.finishReason ?? (answer.toolCalls === undefined ? "stop" : "tool_calls");

function sendWhole(body: Json, answer: ChatAnswer, response: ServerResponse): void {
  const calls = wireCalls(answer);
  const message = {
    role: "assistant",
    content: answer.pieces?.join("") ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, finish_reason: reasonOf(answer), logprobs: null }];
  sendJson(response, {
    id: "chatcmpl-scripted",
    object: "chat.completion",
    created: 0,
    model: body["model"],
    choices,
    ...(answer.usage === false ? {} : { usage: usageOf(body, answer) }),
  });
}

/** Breaks the stream if it is to break after so many pieces. @returns whether it did. */
function breakStream(answer: ChatAnswer, sent: number, response: ServerResponse): boolean {
  if (answer.breakWith === undefined || sent < (answer.after ?? 0)) return false;
  // Ends one direction, so that what was written before still arrives.
  if (answer.breakWith === "cut") response.socket?.end();
  if (answer.breakWith === "error") {
    const error = { message: "scripted", type: "server_error", code: "server_error" };
    response.end(`data: ${JSON.stringify({ error })}\n\n`);
  }
  if (answer.breakWith === "garbage") response.end("data: {not json\n\n");
  return true;
}

type Send = (delta: unknown, reason?: string) => void;

/** Streams tool calls as providers do: the name first, then the arguments in pieces. */
function streamCalls(answer: ChatAnswer, send: Send): void {
  for (const { function: called, ...call } of wireCalls(answer)) {
    send({ tool_calls: [{ ...call, function: { name: called.name, arguments: "" } }] });
    for (let at = 0; at < called.arguments.length; at += 8)
      send({
        tool_calls: [{ index: call.index, function: { arguments: called.arguments.slice(at, at + 8) } }],
      });
  }
}

/** @returns false if the stream was broken on the way. */
async function streamPieces(answer: ChatAnswer, response: ServerResponse, send: Send): Promise<boolean> {
  const { pieces = [], delayMsBetweenPieces: delay = 0 } = answer;
  for (const [sent, piece] of pieces.entries()) {
    if (breakStream(answer, sent, response)) return false;
    if (sent > 0 && delay > 0) await sleep(delay);
    if (sent > 0) await answer.heldBy;
    if (response.destroyed) return false;
    send({ content: piece });
  }
  return !breakStream(answer, pieces.length, response);
}

async function sendStream(body: Json, answer: ChatAnswer, response: ServerResponse): Promise<void> {
  const model = JSON.stringify(body["model"] ?? "");
  // All that chunks of one answer share.
  const head =
    `data: {"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":0,` +
    `"model":${model},"choices":`;
  const send: Send = (delta, reason) => {
    const finish = JSON.stringify(reason ?? null);
    response.write(`${head}[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${finish}}]}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  send({ role: "assistant", content: "" });
  if (!(await streamPieces(answer, response, send))) return;
  streamCalls(answer, send);
  send({}, reasonOf(answer));
  const withUsage = answer.usage !== false && body["stream_options"]?.include_usage === true;
  response.end(
    `${withUsage ? `${head}[],"usage":${JSON.stringify(usageOf(body, answer))}}\n\n` : ""}data: [DONE]\n\n`,
  );
}
