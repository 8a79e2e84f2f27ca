/** Makes a reranker of a chat model. */
import { DomainError } from "../../domain/errors.ts";
import type { ChatMessage, ChatModel, ChatRequest, Usage } from "../chat/types.ts";
import { observedReranker } from "../observed.ts";
import { providerGarbage, providerTimeout } from "../provider/error.ts";
import { ORDER_FORMAT, PASSAGES_MAX, rankingOf, rankingQuestion } from "./listwise.ts";
import type { Reranker } from "./types.ts";

/** What a call of the model has used, also one whose answer broke off or was no ranking. */
export interface RankingCall {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly text: string;
  /** Null if the provider did not say. */
  readonly usage: Usage | null;
}

/** Makes rerankers that tell `onCall` what they used. */
export type ListwiseRerankers = (onCall: (call: RankingCall) => void) => Reranker;

/** A search that has waited this long goes on in its own order. */
const TIMEOUT_MS = 10_000;
/** Twenty numbers are some eighty; the rest is for models that think before they answer. */
const ANSWER_TOKENS = 1_024;
/** A provider that ignores the bound of tokens is left at this length. */
const ANSWER_MAX_CHARACTERS = 8_192;

/**
 * Rerankers that ask the model once for the order of the first {@link PASSAGES_MAX} texts. A text's score is
 * 1 divided by its place; further texts have none. Nothing is tried again, since a caller waits, except for a
 * model that takes neither a temperature nor a schema: it is asked plainly, and from then on at once.
 *
 * @example `test/models/rerank/by-chat-model.test.ts`
 */
export function createListwiseRerankers(
  model: ChatModel,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): ListwiseRerankers {
  let isPlain = false;

  const ask = async (
    messages: readonly ChatMessage[],
    onCall: (call: RankingCall) => void,
    signal: AbortSignal,
  ): Promise<string> => {
    const plain: ChatRequest = { model: model.name, messages, max_tokens: ANSWER_TOKENS };
    if (isPlain) return readAnswer(model, plain, onCall, signal);
    try {
      const exact: ChatRequest = { ...plain, temperature: 0, response_format: ORDER_FORMAT };
      return await readAnswer(model, exact, onCall, signal);
    } catch (error) {
      if (!(error instanceof DomainError && error.code === "rejected_by_provider")) throw error;
      const answer = await readAnswer(model, plain, onCall, signal);
      isPlain = true;
      return answer;
    }
  };

  return (onCall) =>
    observedReranker(
      {
        async rank(query, texts, signal) {
          // There is nothing to put in order.
          if (texts.length < 2) return texts.map(() => 1);
          const asked = texts.slice(0, PASSAGES_MAX);
          const deadline = AbortSignal.timeout(timeoutMs);
          const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
          try {
            const question = rankingQuestion(query, asked, (text) => model.countTokens(text));
            const answer = await ask(question, onCall, either);
            return scoresOf(rankingOf(answer, asked.length), texts.length);
          } catch (error) {
            signal?.throwIfAborted();
            throw deadline.aborted ? providerTimeout(timeoutMs) : error;
          }
        },
      },
      "rerank_by_model",
    );
}

function scoresOf(ranking: readonly number[], count: number): Array<number | null> {
  const scores = Array.from({ length: count }, (): number | null => null);
  for (const [at, place] of ranking.entries()) scores[place] = 1 / (at + 1);
  return scores;
}

/** Leaving the stream early closes the provider's connection. */
async function readAnswer(
  model: ChatModel,
  request: ChatRequest,
  onCall: (call: RankingCall) => void,
  signal: AbortSignal,
): Promise<string> {
  let text = "";
  let end: { readonly usage: Usage | null; readonly model?: string } | undefined;
  try {
    for await (const event of model.stream(request, signal)) {
      signal.throwIfAborted();
      if (event.type === "finish") end = event;
      else if (event.type === "content") text += event.text;
      if (text.length > ANSWER_MAX_CHARACTERS) throw providerGarbage("it is too long");
    }
    signal.throwIfAborted();
    if (end === undefined) throw providerGarbage("it ended early");
    return text;
  } finally {
    // A provider bills what it wrote, whatever becomes of it.
    if (end !== undefined || text !== "")
      onCall({
        model: end?.model ?? request.model,
        messages: request.messages,
        text,
        usage: end?.usage ?? null,
      });
  }
}
