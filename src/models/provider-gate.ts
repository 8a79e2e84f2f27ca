/** The only place where work for a provider stands at its gate: while one process was told to wait, all of them do. */
import { DomainError } from "../domain/errors.ts";
import type { EmbeddingModel } from "./embedding-model.ts";

interface Gate {
  closedForMs(): Promise<number>;
  close(seconds: number): Promise<number>;
}

/** How long a provider is left alone that failed and did not say for how long: the rate at which all processes together try an outage. */
const DEFAULT_CLOSED_SECONDS = 1;

/**
 * The same model behind a gate. While the gate is closed `embed` throws `provider_rate_limited` at once, with the seconds left, and
 * does not ask. An answer that speaks of an outage of the provider closes the gate for as long as it asks for, within the
 * gate's bound.
 */
export function behindGate(model: EmbeddingModel, gate: Gate): EmbeddingModel {
  return {
    ...model,
    async embed(texts, kind, signal) {
      const closedForMs = await gate.closedForMs();
      if (closedForMs > 0) throw new DomainError("provider_rate_limited", "The model provider asked to wait.", { retryAfterSeconds: closedForMs / 1_000 });
      try {
        return await model.embed(texts, kind, signal);
      } catch (error) {
        if (error instanceof DomainError && error.class === "outage" && error.code.startsWith("provider_")) {
          const closedForSeconds = await gate.close(error.retryAfterSeconds ?? DEFAULT_CLOSED_SECONDS);
          throw new DomainError(error.code, error.message, { retryAfterSeconds: closedForSeconds, cause: error.cause });
        }
        throw error;
      }
    },
  };
}
