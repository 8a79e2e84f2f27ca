/** The only place where work for a provider stands at its gate: while one process was told to wait, all of them do. */
import { DomainError, type ErrorCode } from "../domain/errors.ts";
import type { EmbeddingModel } from "./embedding-model.ts";

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
 * bound; after that one request a second tries the provider until one succeeds, and then the gate is open. Where the provider asks for no
 * pause and has just answered another request, the gate stays open: a text that it fails on must not keep everybody else from it.
 */
export function behindGate(model: EmbeddingModel, gate: Gate): EmbeddingModel {
  let answeredAt = -Infinity;
  return {
    ...model,
    async embed(texts, kind, signal) {
      const { closedForMs, isTrial, code } = await gate.enter();
      if (closedForMs > 0) throw new DomainError(code, "The model provider is left alone for a while.", { retryAfterSeconds: closedForMs / 1_000 });
      const askedAt = performance.now();
      try {
        const vectors = await model.embed(texts, kind, signal);
        answeredAt = performance.now();
        if (isTrial) await gate.open();
        return vectors;
      } catch (error) {
        if (!(error instanceof DomainError && error.class === "outage" && error.code.startsWith("provider_"))) throw error;
        const worksForOthers = answeredAt > askedAt - JUST_MS && error.retryAfterSeconds === undefined && error.code !== "provider_rate_limited";
        if (worksForOthers) throw error;
        const closedForSeconds = await gate.close(error.retryAfterSeconds ?? DEFAULT_CLOSED_SECONDS, error.code);
        throw new DomainError(error.code, error.message, { retryAfterSeconds: closedForSeconds, cause: error.cause });
      }
    },
  };
}
