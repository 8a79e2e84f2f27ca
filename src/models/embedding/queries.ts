/** The only place where questions are embedded for search: kept, shared and bounded in time. */
import { LRUCache } from "lru-cache";
import { cacheLookups } from "../../telemetry/instruments.ts";
import { DomainError } from "../../domain/errors.ts";
import type { EmbeddingModel } from "./embedding-model.ts";
import { mergeEmbeddings } from "./merge.ts";
import { providerTimeout } from "../provider/error.ts";

export interface QueryEmbeddings {
  readonly model: EmbeddingModel;
  /**
   * The vector of a question of the organization, shared with other callers: not to be changed.
   * @throws DomainError `provider_timeout` when the time is up, `rejected_by_provider` where the text is refused, else as `EmbeddingModel.embed`;
   * the reason of `signal` once it is aborted.
   */
  embed(text: string, organizationId: string, signal?: AbortSignal): Promise<Float32Array>;
  /** The same of another model; null where it cannot be had. Opened once, and kept. */
  another(model: Pick<EmbeddingModel, "name" | "dimensions">): Promise<QueryEmbeddings | null>;
  /** Closes the other models. */
  close(): Promise<void>;
}

interface CacheOptions {
  readonly maxEntries?: number;
  readonly timeoutMs: number;
  /** Opens a model that documents were embedded with before; null where it cannot be had. Without it there is none. */
  readonly open?: (model: Pick<EmbeddingModel, "name" | "dimensions">) => Promise<EmbeddingModel | null>;
}

const MOST_A_REQUEST = 64;

/** Waits for `work` no longer than `timeoutMs` or until `signal`; the work itself goes on, for others and for the cache. */
function bounded<T>(work: Promise<T>, timeoutMs: number, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => reject(providerTimeout(timeoutMs)), timeoutMs);
    const leave = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", leave, { once: true });
    void work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
    });
  });
}

/**
 * Keeps the vectors of the `maxEntries` questions asked last, in memory only. Equal questions of an organization at one time are one, different
 * ones share requests; failures are not kept.
 */
export function cacheQueries(model: EmbeddingModel, options: CacheOptions): QueryEmbeddings {
  const { maxEntries = 10_000, timeoutMs } = options;
  const others = new Map<string, Promise<QueryEmbeddings | null>>();
  const kept = new LRUCache<string, Float32Array>({ max: maxEntries });
  const underWay = new Map<string, Promise<Float32Array>>();
  const merged = mergeEmbeddings(model, {
    maxWaitMs: 2,
    maxBatch: Math.min(MOST_A_REQUEST, model.preferredBatch ?? MOST_A_REQUEST),
    maxInFlight: 4,
  });

  const ask = async (text: string, organizationId: string): Promise<Float32Array> => {
    const [vector] = await merged
      .forWork({ priority: "now", organizationId, userId: null })
      .embed([text], "query");
    if (!vector)
      throw new DomainError("rejected_by_provider", "The model provider refuses to embed the question.");
    kept.set(text, vector);
    return vector;
  };
  return {
    model,
    async embed(text, organizationId, signal) {
      signal?.throwIfAborted();
      const known = kept.get(text);
      cacheLookups.inc({ cache: "query_embedding", result: known === undefined ? "miss" : "hit" });
      if (known !== undefined) return known;
      const name = `${organizationId} ${text}`;
      const work = underWay.get(name) ?? ask(text, organizationId).finally(() => underWay.delete(name));
      underWay.set(name, work);
      return bounded(work, timeoutMs, signal);
    },
    another({ name, dimensions }) {
      const key = `${name} ${dimensions}`;
      const opening =
        others.get(key) ??
        Promise.resolve(options.open?.({ name, dimensions }) ?? null).then((opened) =>
          opened === null ? null : cacheQueries(opened, { maxEntries, timeoutMs }),
        );
      others.set(key, opening);
      return opening;
    },
    async close() {
      for (const other of await Promise.all(others.values())) await other?.model.close();
    },
  };
}
