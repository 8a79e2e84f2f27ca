/** How one request is asked, and who has to do with it when it fails: a text that the provider refuses, or nobody. */
import { refusedTexts } from "../../telemetry/instruments.ts";
import { type EmbeddingRequest, kindOf, receive, textsOf } from "./caller.ts";
import type { EmbeddingModel } from "./embedding-model.ts";
import { createKnownText } from "../provider/known-text.ts";
import { FailedBesideOthers, MayBeOfOneText } from "../provider/error.ts";
import { halve, isSingle } from "./split-request.ts";

/** A request under way, ended early once none of its callers wants it any more. */
export interface Flight {
  readonly request: EmbeddingRequest;
  readonly abort: AbortController;
}

/**
 * Sends requests of a model: each caller gets what came of its texts, and what has to be asked again in smaller requests is returned. A text
 * that the provider fails on ({@link FailedBesideOthers}) is parted from the others too; its caller then meets an outage and waits, since
 * a provider that breaks on a text today may take it tomorrow.
 */
export function createAsker(model: EmbeddingModel): (flight: Flight) => Promise<EmbeddingRequest[]> {
  const known = createKnownText(model);
  /** Whoever is refused is so only while the model takes other texts; else everybody in the request meets the outage. */
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
      if (error instanceof FailedBesideOthers && isSingle(request)) return error;
      if (error instanceof MayBeOfOneText || error instanceof FailedBesideOthers) return null;
      throw error;
    });
    if (vectors instanceof FailedBesideOthers) {
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
  return async ({ request, abort }: Flight): Promise<EmbeddingRequest[]> => {
    try {
      return await ask(request, abort.signal);
    } catch (error) {
      for (const { caller } of request.parts) caller.settle({ error });
      return [];
    }
  };
}
