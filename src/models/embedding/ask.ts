/** Sends one request and finds out whom its failure concerns: one refused text, or all of them. */
import { refusedTexts } from "../../telemetry/instruments.ts";
import { FailedWhileOthersSucceed, MayBeOfOneText } from "../provider/error.ts";
import { createKnownText } from "../provider/known-text.ts";
import { type EmbeddingRequest, kindOf, receive, textsOf } from "./caller.ts";
import { halve, isSingle } from "./split-request.ts";
import type { EmbeddingModel } from "./types.ts";

export interface SentRequest {
  readonly request: EmbeddingRequest;
  /** Ends the request early, after the last of its callers has left. */
  readonly abort: AbortController;
}

/**
 * A function that sends a request of the model. Each caller gets what came of its texts; what has to be asked
 * again in smaller requests is returned. It never rejects: errors go to the callers.
 *
 * A text on which the provider breaks ({@link FailedWhileOthersSucceed}) is separated from the others like a
 * refused one. Its caller then meets an outage and waits, since the provider may take the text another day.
 */
export function createAsker(model: EmbeddingModel): (sent: SentRequest) => Promise<EmbeddingRequest[]> {
  const known = createKnownText(model);
  /** Refuses a text only if the model takes other texts; else everybody in the request meets an outage. */
  const blame = async (
    request: EmbeddingRequest,
    since: number,
    reason: "rejected" | "unusable",
  ): Promise<EmbeddingRequest[]> => {
    await known.assertWorks(since);
    if (!isSingle(request)) return halve(request, since);
    const { caller, from } = request.parts[0]!;
    refusedTexts.inc({ operation: caller.kind === "query" ? "embed_query" : "embed_passage", reason });
    receive(caller, from, null);
    return [];
  };
  const ask = async (request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingRequest[]> => {
    const sentAt = performance.now();
    const since = request.since ?? sentAt;
    const vectors = await model.embed(textsOf(request), kindOf(request), signal).catch((error: unknown) => {
      if (error instanceof FailedWhileOthersSucceed && isSingle(request)) return error;
      if (error instanceof MayBeOfOneText || error instanceof FailedWhileOthersSucceed) return null;
      throw error;
    });
    if (vectors instanceof FailedWhileOthersSucceed) {
      const { caller, from } = request.parts[0]!;
      receive(caller, from, vectors);
      return [];
    }
    if (vectors === null) return blame(request, since, "rejected");
    if (vectors.every((vector) => vector === null)) return blame(request, since, "unusable");
    known.worked(sentAt);
    const places = request.parts.flatMap(({ caller, from, to }) =>
      Array.from({ length: to - from }, (_, index) => ({ caller, from: from + index, to: from + index + 1 })),
    );
    const unusable = places.filter((_, index) => vectors[index] === null);
    for (const [index, { caller, from }] of places.entries()) {
      const vector = vectors[index];
      if (vector) receive(caller, from, vector);
    }
    return unusable.map((part) => ({ parts: [part], since }));
  };
  return async ({ request, abort }: SentRequest): Promise<EmbeddingRequest[]> => {
    try {
      return await ask(request, abort.signal);
    } catch (error) {
      for (const { caller } of request.parts) caller.settle({ error });
      return [];
    }
  };
}
