/** Chat completions: stateless, whole or streamed, with an agent as the model. */
import { callerIdOf } from "../../../domain/tenancy/ownership.ts";
import { z } from "zod";
import { DomainError } from "../../../domain/errors.ts";
import type { SamplingOptions } from "../../../agents/model-request.ts";
import { authorize, decide } from "../../../auth/policy.ts";
import type { Deps } from "../../deps.ts";
import { ChatCompletion, ChatCompletionChunk, ChatStreamError } from "../../../schema/chat/completion.ts";
import { ChatCompletionRequest } from "../../../schema/chat/request.ts";
import { defineRoute, type RouteRequest } from "../../route.ts";
import { keptAnswer, type KeptRequest } from "../completions/kept.ts";
import { streamedAnswer } from "../completions/streamed.ts";
import type { AnswerSink, Turn } from "../../turns/turn.ts";
import { wholeAnswer } from "../completions/whole.ts";

const DROPPED_HEADER = "X-Dropped-Messages";

export const createChatCompletion = defineRoute("POST /chat/completions", {
  operation: "chat.complete",
  access: "keys",
  capability: "chat",
  audit: { action: "agents:chat", resource: "agent", idField: "model", isChange: false },
  budget: "chat",
  idempotent: "turn",
  headers: {
    "Last-Event-ID":
      "With an `Idempotency-Key`: the last event that was received; the stream goes on behind it",
  },
  body: ChatCompletionRequest,
  response: ChatCompletion,
  ignoresUnknown: true,
  otherContent: {
    "text/event-stream": {
      schema: z.union([ChatCompletionChunk, ChatStreamError]),
      description:
        "With `stream: true`: chunks, then `[DONE]`; " +
        "an answer that breaks off ends with an error event instead.",
    },
  },
  errors: [400, 404, 409, 502, 503, 504],
  summary: "Chat with an agent.",
  description:
    "`model` is the id of an agent that the caller may use: public ones, and those of spaces that the caller " +
    "has a role in. The whole history is sent with every call; nothing of it is stored. The agent searches no " +
    "more than what both it and the caller reach. Tools run inside the service, so `tool_calls` is always " +
    "null. A client that goes away cancels its turn; with an `Idempotency-Key` the turn goes on for a minute, " +
    "and a repeat gets its answer. Fields that the service does not know are ignored without a `Warning`.",
  replyHeaders: {
    "X-Accel-Buffering":
      "`no` with `stream: true`: proxies of the nginx family then pass each piece on at once",
    [DROPPED_HEADER]:
      "Messages of the history that were left out because they did not fit the model's context; " +
      "the oldest first",
  },
  async handle({ deps, principal, body, request, reply }) {
    const agent = await deps.chat.findAgent(principal.organization, body.model);
    if (decide(principal, "agents:chat", agent) === "not_found")
      throw new DomainError("model_not_found", `Model '${body.model}' not found`, { param: "model" });
    authorize(principal, "agents:chat", agent);
    let turn: Turn | undefined;
    const asked: Asked = {
      deps,
      request,
      turn: { principal, agent, messages: body.messages, options: samplingOf(body) },
      model: body.model,
      isStream: body.stream === true,
      options: {
        includeUsage: body.stream_options?.include_usage ?? false,
        includeTools: body.stream_options?.include_tools ?? false,
        showCitations: agent.show_citations,
        pingMs: deps.chat.pingMs,
        publicUrl: deps.config.api.publicUrl,
      },
      onBegun: (begun) => {
        turn = begun;
      },
    };
    const answer = await (request.idempotencyKey === undefined
      ? answerWithoutKey(asked)
      : answerWithKey(asked, request.idempotencyKey));
    if (turn !== undefined && turn.droppedMessages > 0)
      reply.header(DROPPED_HEADER, String(turn.droppedMessages));
    return answer;
  },
});

interface Asked extends Pick<KeptRequest, "turn" | "model" | "isStream" | "options" | "onBegun"> {
  readonly deps: Pick<Deps, "db" | "chat">;
  readonly request: RouteRequest;
}

/** Answers with a turn that ends if its client goes away. */
async function answerWithoutKey({ deps, request, turn, model, isStream, options, onBegun }: Asked) {
  const begin = async (sink: AnswerSink): Promise<Turn> => {
    const begun = await deps.chat.begin(turn, sink);
    onBegun(begun);
    if (request.signal.aborted) begun.abort();
    request.signal.addEventListener("abort", () => begun.abort(), { once: true });
    return begun;
  };
  const all = { ...options, head: { created: Math.floor(Date.now() / 1_000), model } };
  return isStream ? streamedAnswer(begin, all) : wholeAnswer(begin, all);
}

/** Answers with the turn that the key began, which goes on if its client goes away. */
async function answerWithKey({ deps, request, ...asked }: Asked, idempotencyKey: string) {
  const { principal } = asked.turn;
  return keptAnswer(deps.db, deps.chat, {
    ...asked,
    key: {
      organization: principal.organization,
      callerId: callerIdOf(principal),
      key: idempotencyKey,
    },
    bodyHash: request.bodyHash ?? Buffer.alloc(0),
    signal: request.signal,
    lastEventNo: eventNo(request.headers["last-event-id"]),
  });
}

function samplingOf(body: z.output<typeof ChatCompletionRequest>): SamplingOptions {
  return {
    temperature: body.temperature ?? undefined,
    maxTokens: body.max_tokens ?? body.max_completion_tokens ?? undefined,
    responseFormat: body.response_format ?? undefined,
  };
}

function eventNo(header: unknown): number | null {
  return typeof header === "string" && /^\d{1,9}$/.test(header) ? Number(header) : null;
}
