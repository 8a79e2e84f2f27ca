/** Tells a model's outage from a text that it refuses, by asking for a text that is known to work. */
import { DomainError } from "../../domain/errors.ts";
import type { EmbeddingModel } from "../embedding/types.ts";
import { MayBeOfOneText, providerGarbage } from "./error.ts";

/** A sentence that no provider has a reason to refuse. */
export const KNOWN_TEXT = "The library opens at nine in the morning.";
/** An answer older than this says nothing about now. */
const MOST_AGE_MS = 10_000;

export interface KnownText {
  /** Notes that a request sent at this time (`performance.now()`) brought a vector. */
  worked(sentAt: number): void;
  /**
   * Resolves if the model embeds other texts: it has answered a request that was sent after `since` and at
   * most ten seconds ago, or it answers one for the known text now. Simultaneous callers share that request.
   *
   * @throws DomainError of class outage if the model refuses the known text too; otherwise what
   *   `EmbeddingModel.embed` throws.
   */
  assertWorks(since: number): Promise<void>;
}

export function createKnownText(model: EmbeddingModel): KnownText {
  let workedAt = -Infinity;
  let trial: { readonly sentAt: number; readonly ended: Promise<void> } | undefined;
  const worked = (sentAt: number): void => {
    workedAt = Math.max(workedAt, sentAt);
  };
  const embedKnown = async (sentAt: number): Promise<void> => {
    const [vector] = await model.embed([KNOWN_TEXT], "passage").catch((error: unknown) => {
      if (!(error instanceof MayBeOfOneText)) throw error;
      throw new DomainError(
        "provider_unavailable",
        `The model provider refuses a text that any model takes. ${error.message}`,
      );
    });
    if (!vector)
      throw providerGarbage(
        "the embedding of a text that any model takes has no direction, or the wrong length",
      );
    worked(sentAt);
  };
  return {
    worked,
    async assertWorks(since) {
      const notBefore = Math.max(since, performance.now() - MOST_AGE_MS);
      if (workedAt >= notBefore) return;
      if (trial === undefined || trial.sentAt < notBefore) {
        const sentAt = performance.now();
        const ended = embedKnown(sentAt).finally(() => {
          if (trial?.sentAt === sentAt) trial = undefined;
        });
        trial = { sentAt, ended };
      }
      await trial.ended;
    },
  };
}
