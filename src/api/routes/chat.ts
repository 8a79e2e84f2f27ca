/** Chat completions: stateless, whole or streamed, with an agent as the model. */
import { z } from "zod";
import { authorize } from "../../auth/policy.ts";
import { DomainError } from "../../domain/errors.ts";
import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest, ChatStreamError } from "../../schema/chat.ts";
import { defineRoute } from "../route.ts";
import { streamedAnswer } from "../turns/streamed-answer.ts";
import type { AnswerSink, Turn } from "../turns/turn.ts";

export const createChatCompletion = defineRoute({
  method: "POST",
  path: "/chat/completions",
  access: "keys",
  capability: "chat",
  budget: "chat",
  status: 200,
  body: ChatCompletionRequest,
  response: ChatCompletion,
  otherContent: {
    "text/event-stream": {
      schema: z.union([ChatCompletionChunk, ChatStreamError]),
      description: "With `stream: true`: chunks, then `[DONE]`; an answer that breaks off ends with an error event instead.",
    },
  },
  errors: [404, 502, 503, 504],
  tags: ["Chat"],
  summary: "Chat with an agent.",
  description: "The whole history is sent with every call. Tools run inside the service, so `tool_calls` is always null. A client that goes away cancels its turn.",
  async handle({ deps, principal, body, request }) {
    const agent = await deps.chat.findAgent(principal.organization, body.model);
    authorize(principal, "agents:chat", agent, `Model '${body.model}' not found`);
    const turnRequest = {
      principal,
      agent,
      messages: body.messages,
      options: {
        temperature: body.temperature ?? undefined,
        maxTokens: body.max_tokens ?? body.max_completion_tokens ?? undefined,
        responseFormat: body.response_format ?? undefined,
      },
    };
    const begin = async (sink: AnswerSink): Promise<Turn> => {
      const turn = await deps.chat.begin(turnRequest, sink, request.signal);
      if (request.signal.aborted) turn.abort();
      request.signal.addEventListener("abort", () => turn.abort(), { once: true });
      return turn;
    };
    const head = { created: Math.floor(Date.now() / 1_000), model: body.model };
    if (body.stream) return streamedAnswer(begin, { head, includeUsage: body.stream_options?.include_usage ?? false, showCitations: agent.show_citations });
    return { ...head, ...(await wholeAnswer(begin)) };
  },
});

async function wholeAnswer(begin: (sink: AnswerSink) => Promise<Turn>) {
  const pieces: string[] = [];
  const turn = await begin({ isCommitted: false, begun: () => undefined, content: (text) => void pieces.push(text) });
  const result = await turn.result;
  if (result.status === "failed") throw result.error;
  if (result.status === "cancelled") throw new DomainError("cancelled", "The request was cancelled.");
  const { prompt_tokens, completion_tokens } = result.usage;
  return {
    id: `chatcmpl-${turn.row.id}`,
    object: "chat.completion" as const,
    choices: [{ index: 0, message: { role: "assistant" as const, content: pieces.join(""), tool_calls: null, refusal: null }, finish_reason: result.finishReason, logprobs: null }],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    system_fingerprint: null,
    service_tier: null,
    ...(turn.agent.show_citations ? { citations: [...result.citations] } : {}),
  };
}
