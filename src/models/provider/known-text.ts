/** How an outage of an embedding model is told from a text that it refuses: by a text that is known to work. */
import { DomainError } from "../../domain/errors.ts";
import type { EmbeddingModel } from "../embedding/embedding-model.ts";
import { MayBeOfOneText, providerGarbage } from "./error.ts";

/** A sentence that no provider has a reason to refuse. */
export const KNOWN_TEXT = "The library opens at nine in the morning.";
/** What worked longer ago than this says nothing about now. */
const MOST_AGE_MS = 10_000;

export interface KnownText {
  /** Notes that a request sent at this time (`performance.now()`) brought a vector. */
  worked(sentAt: number): void;
  /**
   * Resolves once it is sure that the model embeds other texts: by anything sent since the time given, and at most ten seconds ago, else
   * by asking for the known text. Those who ask at one time share one request.
   * @throws DomainError of class outage where the model refuses the known text too; else what `EmbeddingModel.embed` throws.
   */
  assertWorks(since: number): Promise<void>;
}

export function createKnownText(model: EmbeddingModel): KnownText {
  let workedAt = -Infinity;
  let trial: { readonly sentAt: number; readonly ended: Promise<void> } | undefined;
  const worked = (sentAt: number): void => void (workedAt = Math.max(workedAt, sentAt));
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
