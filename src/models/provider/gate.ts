/** The only place where work for a provider stands at its gate: while one process was told to wait, all of them do. */
import { DomainError, type ErrorCode } from "../../domain/errors.ts";
import type { EmbeddingModel } from "../embedding/embedding-model.ts";
import { KNOWN_TEXT } from "./known-text.ts";
import { FailedBesideOthers, ProviderBroke } from "./error.ts";

interface Gate {
  enter(): Promise<{ readonly closedForMs: number; readonly isTrial: boolean; readonly code: ErrorCode }>;
  close(seconds: number, code: ErrorCode): Promise<number>;
  open(): Promise<void>;
}

/** How long a provider is left alone that failed and did not say for how long. */
const DEFAULT_CLOSED_SECONDS = 1;

/** A provider that has just answered others is not down: what failed is looked at again on its own account. */
const JUST_MS = 2_000;

/**
 * The same model behind a gate. While the gate is closed `embed` throws what closed it at once, with the seconds left, and
 * does not ask. An answer that speaks of an outage of the provider closes the gate for as long as it asks for, within the gate's
 * bound; after that one request a second tries the provider until one succeeds, and then the gate is open. Where the provider
 * broke on a request, asks for no pause, and has just answered another or answers a text that is known to work, the gate stays open and
 * {@link FailedBesideOthers} is thrown: a text that it breaks on must not keep everybody else from it.
 */
export function behindGate(model: EmbeddingModel, gate: Gate): EmbeddingModel {
  let answeredAt = -Infinity;
  const worksForOthers = async (askedAt: number, signal?: AbortSignal): Promise<boolean> => {
    if (answeredAt > askedAt - JUST_MS) return true;
    // Why it fails does not matter here: the failure that is looked at says so.
    const [vector] = await model.embed([KNOWN_TEXT], "passage", signal).catch(() => [null]);
    signal?.throwIfAborted();
    if (vector) answeredAt = performance.now();
    return Boolean(vector);
  };
  return {
    ...model,
    async embed(texts, kind, signal) {
      const { closedForMs, isTrial, code } = await gate.enter();
      if (closedForMs > 0)
        throw new DomainError(code, "The model provider is left alone for a while.", {
          retryAfterSeconds: closedForMs / 1_000,
        });
      const askedAt = performance.now();
      try {
        const vectors = await model.embed(texts, kind, signal);
        answeredAt = performance.now();
        if (isTrial) await gate.open();
        return vectors;
      } catch (error) {
        if (!(error instanceof DomainError && error.class === "outage" && error.code.startsWith("provider_")))
          throw error;
        if (
          error instanceof ProviderBroke &&
          error.retryAfterSeconds === undefined &&
          (await worksForOthers(askedAt, signal))
        ) {
          if (isTrial) await gate.open();
          throw new FailedBesideOthers(error.code, error.message, { cause: error.cause });
        }
        const closedForSeconds = await gate.close(
          error.retryAfterSeconds ?? DEFAULT_CLOSED_SECONDS,
          error.code,
        );
        throw new DomainError(error.code, error.message, {
          retryAfterSeconds: closedForSeconds,
          cause: error.cause,
        });
      }
    },
  };
}
