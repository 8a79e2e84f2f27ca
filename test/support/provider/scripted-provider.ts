/** The only stand-in of the tests and benches: an OpenAI-compatible model provider over HTTP that answers what it is told to. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Poison, embeddingsOf, faultOf } from "./poisoned-embeddings.ts";

type Json = Record<string, any>;
type Route = "embeddings" | "chat" | "models";

/** A failure instead of an answer. `garbage` is status 200 with a body that is no JSON, `cut` a connection that ends. */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | { hang: true }
  | { garbage: true }
  | { cut: true };

/** What one chat completion does. */
interface ChatAnswer {
  /** Content, a chunk each. */
  pieces?: string[];
  delayMsBetweenPieces?: number;
  /** After the first piece nothing comes until it resolves. */
  heldBy?: Promise<void>;
  firstTokenMs?: number;
  toolCalls?: Array<{ id?: string; name: string; arguments: string }>;
  finishReason?: string;
  /** False: no usage at all. */
  usage?: boolean;
  /** After this many pieces (streamed) … */
  after?: number;
  /** … the connection is cut, nothing more comes, an error event, or a line that is no JSON. */
  breakWith?: "cut" | "hang" | "error" | "garbage";
}
export type ChatReply = ChatAnswer | Fault;
type ChatScript = ChatReply | ((body: Json) => ChatReply);

export interface RecordedRequest {
  readonly route: Route;
  readonly body: Json;
  readonly headers: IncomingMessage["headers"];
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  /** When the client went away before the answer was whole. */
  abortedAt: number | undefined;
  /** It was answered by a fault. */
  isRefused: boolean;
}

export interface ProviderOptions {
  port?: number;
  dimensions?: number;
  /** Before the first token of every chat completion that does not say otherwise. */
  firstTokenMs?: number;
  embeddingMs?: number;
  /** The last requests kept; 0 for benches. */
  keepRequests?: number;
}

export interface ScriptedProvider {
  /** With its version, as OPENAI_BASE_URL wants it. */
  readonly url: string;
  readonly requests: RecordedRequest[];
  readonly counts: Record<Route, number> & { texts: number; aborted: number; connections: number };
  /** Answers the next chat completions, in order. */
  reply(...scripts: ChatScript[]): void;
  /** Answers all chat completions for which nothing is queued; without an argument the default again. */
  replyAlways(script?: ChatScript): void;
  /** The next `times` requests for embeddings fail; all of them, until cleared, without a number. */
  failEmbeddings(fault: Fault, times?: number): void;
  /** What texts do from now on; without an argument none does anything. */
  poisonTexts(poisonOf?: (text: string) => Poison | undefined): void;
  failChat(fault: Fault, times?: number): void;
  clearFaults(): void;
  /** Cuts the connections of requests that a fault has left without an answer. */
  dropHanging(): void;
  /** Back to a provider that answers everything, was told nothing and remembers no request. */
  reset(): void;
  close(): Promise<void>;
}

interface State {
  readonly options: Required<Omit<ProviderOptions, "port">>;
  readonly counts: ScriptedProvider["counts"];
  readonly queue: ChatScript[];
  always: ChatScript;
  faults: Partial<Record<Route, { fault: Fault; left: number }>>;
  poisonOf: (text: string) => Poison | undefined;
  readonly hanging: Set<ServerResponse>;
}

/** Answers the last message's first words, so that tests can tell turns apart. */
const echo = (body: Json): ChatAnswer => {
  const last = body["messages"]?.at(-1)?.content;
  const words = String(typeof last === "string" ? last : "")
    .trim()
    .split(/\s+/)
    .slice(0, 4)
    .join(" ");
  return { pieces: ["You", " said", ": ", words === "" ? "nothing" : words] };
};

const countTokens = (text: string): number => Math.ceil(text.length / 4);
const isFault = (reply: ChatReply): reply is Fault =>
  "status" in reply || "hang" in reply || "garbage" in reply || "cut" in reply;

function sendJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

function sendFault(response: ServerResponse, fault: Fault): void {
  if ("hang" in fault) return;
  if ("cut" in fault) return void response.destroy();
  if ("garbage" in fault)
    return void response.writeHead(200, { "content-type": "application/json" }).end("<html>not json");
  const {
    status,
    headers = {},
    body = { error: { message: `scripted ${status}`, type: "scripted", code: `scripted_${status}` } },
  } = fault;
  sendJson(response, body, status, headers);
}

async function sendEmbeddings(state: State, body: Json, response: ServerResponse): Promise<void> {
  const input: string[] = Array.isArray(body["input"]) ? body["input"] : [body["input"]];
  const dimensions: number = body["dimensions"] ?? state.options.dimensions;
  state.counts.texts += input.length;
  if (state.options.embeddingMs > 0) await sleep(state.options.embeddingMs);
  const fault = faultOf(input, state.poisonOf);
  if (fault !== undefined) return sendFault(response, fault);
  const tokens = input.reduce((sum, text) => sum + countTokens(text), 0);
  const data = embeddingsOf(input, {
    dimensions,
    inBase64: body["encoding_format"] === "base64",
    poisonOf: state.poisonOf,
  });
  sendJson(response, {
    object: "list",
    model: body["model"],
    data,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
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

/** True where the stream is to end here. */
function breakStream(answer: ChatAnswer, sent: number, response: ServerResponse): boolean {
  if (answer.breakWith === undefined || sent < (answer.after ?? 0)) return false;
  // Half-closed, so that what was written before still arrives.
  if (answer.breakWith === "cut") response.socket?.end();
  if (answer.breakWith === "error")
    response.end(
      `data: ${JSON.stringify({ error: { message: "scripted", type: "server_error", code: "server_error" } })}\n\n`,
    );
  if (answer.breakWith === "garbage") response.end("data: {not json\n\n");
  return true;
}

type Send = (delta: unknown, reason?: string) => void;

/** As providers do: the name first, the arguments in pieces. */
function streamCalls(answer: ChatAnswer, send: Send): void {
  for (const { function: called, ...call } of wireCalls(answer)) {
    send({ tool_calls: [{ ...call, function: { name: called.name, arguments: "" } }] });
    for (let at = 0; at < called.arguments.length; at += 8)
      send({
        tool_calls: [{ index: call.index, function: { arguments: called.arguments.slice(at, at + 8) } }],
      });
  }
}

/** False where the stream was broken on the way. */
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
  const head = `data: {"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":0,"model":${JSON.stringify(body["model"] ?? "")},"choices":`;
  const send: Send = (delta, reason) =>
    response.write(
      `${head}[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(reason ?? null)}}]}\n\n`,
    );
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

async function sendChat(state: State, body: Json, response: ServerResponse): Promise<void> {
  const script = state.queue.shift() ?? state.always;
  const reply = typeof script === "function" ? script(body) : script;
  if (isFault(reply)) return sendFault(response, reply);
  const delay = reply.firstTokenMs ?? state.options.firstTokenMs;
  if (delay > 0) await sleep(delay);
  if (response.destroyed) return;
  if (body["stream"] === true) await sendStream(body, reply, response);
  else sendWhole(body, reply, response);
}

/** The fault set for this route, counted down. */
function nextFault(state: State, route: Route): Fault | undefined {
  const set = state.faults[route];
  if (set === undefined || set.left === 0) return undefined;
  set.left--;
  return set.fault;
}

async function answer(state: State, record: RecordedRequest, response: ServerResponse): Promise<void> {
  const { route, body } = record;
  const fault = nextFault(state, route);
  record.isRefused = fault !== undefined;
  if (fault !== undefined && "hang" in fault)
    state.hanging.add(response.on("close", () => state.hanging.delete(response)));
  if (fault !== undefined) return sendFault(response, fault);
  if (route === "embeddings") return sendEmbeddings(state, body, response);
  if (route === "chat") return sendChat(state, body, response);
  sendJson(response, {
    object: "list",
    data: [{ id: "scripted", object: "model", created: 0, owned_by: "test" }],
  });
}

const ROUTES: Record<string, Route> = {
  "/v1/embeddings": "embeddings",
  "/v1/chat/completions": "chat",
  "/v1/models": "models",
};

async function readJson(request: IncomingMessage): Promise<Json> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  return text === "" ? {} : (JSON.parse(text) as Json);
}

export async function startScriptedProvider({
  port = 0,
  dimensions = 384,
  firstTokenMs = 0,
  embeddingMs = 0,
  keepRequests = 1_000,
}: ProviderOptions = {}): Promise<ScriptedProvider> {
  const counts = { embeddings: 0, chat: 0, models: 0, texts: 0, aborted: 0, connections: 0 };
  const state: State = {
    options: { dimensions, firstTokenMs, embeddingMs, keepRequests },
    counts,
    queue: [],
    always: echo,
    faults: {},
    poisonOf: () => undefined,
    hanging: new Set(),
  };
  const requests: RecordedRequest[] = [];

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const route = ROUTES[request.url ?? ""];
    if (route === undefined) return sendJson(response, { error: { message: "no such route" } }, 404);
    const body = await readJson(request);
    counts[route]++;
    const record: RecordedRequest = {
      route,
      body,
      headers: request.headers,
      at: performance.now(),
      abortedAt: undefined,
      isRefused: false,
    };
    if (keepRequests > 0) requests.push(record);
    if (requests.length > keepRequests) requests.shift();
    response.on("close", () => {
      if (response.writableFinished) return;
      counts.aborted++;
      record.abortedAt = performance.now();
    });
    await answer(state, record, response);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.on("connection", () => counts.connections++);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  const dropHanging = (): void => state.hanging.forEach((response) => response.destroy());
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests,
    counts,
    reply: (...scripts) => void state.queue.push(...scripts),
    replyAlways: (script = echo) => void (state.always = script),
    failEmbeddings: (fault, times = Infinity) => void (state.faults.embeddings = { fault, left: times }),
    poisonTexts: (poisonOf = () => undefined) => void (state.poisonOf = poisonOf),
    failChat: (fault, times = Infinity) => void (state.faults.chat = { fault, left: times }),
    clearFaults: () => void (state.faults = {}),
    dropHanging,
    reset() {
      Object.assign(state, { always: echo, faults: {}, poisonOf: () => undefined });
      state.queue.length = 0;
      requests.length = 0;
      dropHanging();
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
