/** Keeps an embedding model from a provider that is down: if it asks one process to wait, all wait. */
import { DomainError, type ErrorCode } from "../../domain/errors.ts";
import type { EmbeddingModel } from "../embedding/types.ts";
import { KNOWN_TEXT } from "./known-text.ts";
import { FailedWhileOthersSucceed, ProviderBroke } from "./error.ts";

/** The state that all processes share. */
interface Gate {
  /** `closedForMs` is 0 if the request may go; `isTrial` if it finds out whether the provider is back. */
  enter(): Promise<{ readonly closedForMs: number; readonly isTrial: boolean; readonly code: ErrorCode }>;
  /** @returns for how many seconds the gate is closed now. */
  close(seconds: number, code: ErrorCode): Promise<number>;
  open(): Promise<void>;
}

/** The pause of a provider that failed and did not say for how long. */
const DEFAULT_CLOSED_SECONDS = 1;

/** A provider that answered another request so lately is not down; the failure is judged by itself. */
const JUST_MS = 2_000;

/**
 * The same model behind a gate that all processes share. While the gate is closed `embed` throws at once the
 * error that closed it, with the seconds left, and asks nobody.
 *
 * - An answer that speaks of an outage closes the gate for as long as it asks for, within the gate's bound.
 *   After that, one request a second tries the provider, until one succeeds and opens the gate.
 * - The gate stays open if the provider broke on a request without asking for a pause, and has just answered
 *   another or answers a text that is known to work. `embed` then throws {@link FailedWhileOthersSucceed}: a
 *   text that breaks the provider must not keep everybody else from it.
 *
 * @example `test/models/provider/gate.database.test.ts`
 */
export function behindGate(model: EmbeddingModel, gate: Gate): EmbeddingModel {
  let answeredAt = -Infinity;
  const worksForOthers = async (askedAt: number, signal?: AbortSignal): Promise<boolean> => {
    if (answeredAt > askedAt - JUST_MS) return true;
    // Why this fails does not matter: the failure of the request itself is the one that is reported.
    const [vector] = await model.embed([KNOWN_TEXT], "passage", signal).catch(() => [null]);
    signal?.throwIfAborted();
    if (vector) answeredAt = performance.now();
    return Boolean(vector);
  };
  const mayBeOfTheText = async (
    error: DomainError,
    askedAt: number,
    signal?: AbortSignal,
  ): Promise<boolean> =>
    error instanceof ProviderBroke &&
    error.retryAfterSeconds === undefined &&
    (await worksForOthers(askedAt, signal));
  return {
    ...model,
    async embed(texts, kind, signal) {
      const { closedForMs, isTrial, code } = await gate.enter();
      if (closedForMs > 0)
        throw new DomainError(code, "Requests to the model provider are paused after repeated failures.", {
          retryAfterSeconds: closedForMs / 1_000,
        });
      const askedAt = performance.now();
      try {
        const vectors = await model.embed(texts, kind, signal);
        answeredAt = performance.now();
        if (isTrial) await gate.open();
        return vectors;
      } catch (error) {
        if (!isOutageOfProvider(error)) throw error;
        if (await mayBeOfTheText(error, askedAt, signal)) {
          if (isTrial) await gate.open();
          throw new FailedWhileOthersSucceed(error.code, error.message, { cause: error.cause });
        }
        const seconds = error.retryAfterSeconds ?? DEFAULT_CLOSED_SECONDS;
        throw new DomainError(error.code, error.message, {
          retryAfterSeconds: await gate.close(seconds, error.code),
          cause: error.cause,
        });
      }
    },
  };
}

function isOutageOfProvider(error: unknown): error is DomainError {
  return error instanceof DomainError && error.class === "outage" && error.code.startsWith("provider_");
}
