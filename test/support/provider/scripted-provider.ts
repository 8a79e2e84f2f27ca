/** An OpenAI-compatible model provider over HTTP that answers what it is told to. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { countTokens, sendChatAnswer, sendFault, sendJson } from "./answers.ts";
import { type Poison, embeddingsOf, faultOf } from "./poisoned-embeddings.ts";
import { type ChatAnswer, type ChatScript, type Fault, type Json, isFault } from "./script.ts";

export type { ChatReply, Fault } from "./script.ts";

type Route = "embeddings" | "chat" | "models";

export interface RecordedRequest {
  readonly route: Route;
  readonly body: Json;
  readonly headers: IncomingMessage["headers"];
  /** When it came, by `performance.now()`. */
  readonly at: number;
  /** When the client went away, if that was before the answer was whole. */
  abortedAt: number | undefined;
  /** Whether it was answered by a fault. */
  isRefused: boolean;
}

export interface ProviderOptions {
  port?: number;
  dimensions?: number;
  /** Milliseconds before the first token of a chat completion that does not name its own. */
  firstTokenMs?: number;
  embeddingMs?: number;
  /** How many requests are kept, the last ones; 1,000 by default, 0 for benches. */
  keepRequests?: number;
}

export interface ScriptedProvider {
  /** The address with its version, for OPENAI_BASE_URL. */
  readonly url: string;
  readonly requests: RecordedRequest[];
  readonly counts: Record<Route, number> & { texts: number; aborted: number; connections: number };
  /** Answers the next chat completions, in order. */
  reply(...scripts: ChatScript[]): void;
  /** Answers all chat completions for which nothing is queued; by default with an echo. */
  replyAlways(script?: ChatScript): void;
  /** The next `times` requests for embeddings fail; without a number all of them, until `clearFaults`. */
  failEmbeddings(fault: Fault, times?: number): void;
  /** Says which texts break a request for embeddings from now on; without an argument none does. */
  poisonTexts(poisonOf?: (text: string) => Poison | undefined): void;
  failChat(fault: Fault, times?: number): void;
  clearFaults(): void;
  /** Cuts the connections of requests that a fault has left without an answer. */
  dropHanging(): void;
  /** Forgets all scripts, faults and requests. */
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

/** Answers with the first words of the last message, so that tests can tell turns apart. */
const echo = (body: Json): ChatAnswer => {
  const last = body["messages"]?.at(-1)?.content;
  const words = String(typeof last === "string" ? last : "")
    .trim()
    .split(/\s+/)
    .slice(0, 4)
    .join(" ");
  return { pieces: ["You", " said", ": ", words === "" ? "nothing" : words] };
};

/** A request that hangs is remembered, so that {@link dropHanging} can end it. */
function fail(state: State, response: ServerResponse, fault: Fault): void {
  if ("hang" in fault) state.hanging.add(response.on("close", () => state.hanging.delete(response)));
  sendFault(response, fault);
}

async function sendEmbeddings(state: State, body: Json, response: ServerResponse): Promise<void> {
  const input: string[] = Array.isArray(body["input"]) ? body["input"] : [body["input"]];
  const dimensions: number = body["dimensions"] ?? state.options.dimensions;
  state.counts.texts += input.length;
  if (state.options.embeddingMs > 0) await sleep(state.options.embeddingMs);
  const fault = faultOf(input, state.poisonOf);
  if (fault !== undefined) return fail(state, response, fault);
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

async function sendChat(state: State, body: Json, response: ServerResponse): Promise<void> {
  const script = state.queue.shift() ?? state.always;
  const reply = typeof script === "function" ? script(body) : script;
  if (isFault(reply)) return sendFault(response, reply);
  const delay = reply.firstTokenMs ?? state.options.firstTokenMs;
  if (delay > 0) await sleep(delay);
  if (response.destroyed) return;
  await sendChatAnswer(body, reply, response);
}

/** The fault that is set for this route, if any is left; counts it down. */
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
  if (fault !== undefined) return fail(state, response, fault);
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

function dropHanging(state: State): void {
  for (const response of state.hanging) response.destroy();
}

/** What a test tells the provider to do. */
function controlsOf(
  state: State,
): Pick<
  ScriptedProvider,
  "reply" | "replyAlways" | "failEmbeddings" | "poisonTexts" | "failChat" | "clearFaults" | "dropHanging"
> {
  return {
    reply(...scripts) {
      state.queue.push(...scripts);
    },
    replyAlways(script = echo) {
      state.always = script;
    },
    failEmbeddings(fault, times = Infinity) {
      state.faults.embeddings = { fault, left: times };
    },
    poisonTexts(poisonOf = () => undefined) {
      state.poisonOf = poisonOf;
    },
    failChat(fault, times = Infinity) {
      state.faults.chat = { fault, left: times };
    },
    clearFaults() {
      state.faults = {};
    },
    dropHanging: () => dropHanging(state),
  };
}

/** Starts a provider on a free port, or the one given. @example `test/models/chat/openai.test.ts` */
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
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests,
    counts,
    ...controlsOf(state),
    reset() {
      Object.assign(state, { always: echo, faults: {}, poisonOf: () => undefined });
      state.queue.length = 0;
      requests.length = 0;
      dropHanging(state);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
