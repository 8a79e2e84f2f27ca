/** Embeds questions for search: vectors are cached, equal questions share a request, waits are bounded. */
import { LRUCache } from "lru-cache";
import { cacheLookups } from "../../telemetry/instruments.ts";
import { DomainError } from "../../domain/errors.ts";
import { shareRunning } from "../../process/concurrency/share-running.ts";
import type { EmbeddingModel } from "./types.ts";
import { mergeEmbeddings } from "./merge.ts";
import { providerTimeout } from "../provider/error.ts";

export interface QueryEmbeddings {
  readonly model: EmbeddingModel;
  /**
   * The vector of a question. It is shared with other callers and must not be changed.
   *
   * @throws DomainError `provider_timeout` after the time limit, `rejected_by_provider` if the text is
   *   refused, otherwise what `EmbeddingModel.embed` throws; the reason of `signal` after it is aborted.
   */
  embed(text: string, organizationId: string, signal?: AbortSignal): Promise<Float32Array>;
  /** The same for another model, which is opened once and kept; null if it cannot be opened. */
  another(model: Pick<EmbeddingModel, "name" | "dimensions">): Promise<QueryEmbeddings | null>;
  close(): Promise<void>;
}

interface CacheOptions {
  /** Of the vectors and questions that are kept; 20 MiB by default, some 10,000 of the built-in model. */
  readonly maxBytes?: number;
  readonly timeoutMs: number;
  /** Opens a model that embedded documents before; null if it cannot. Absent: there is no other. */
  readonly open?: (model: Pick<EmbeddingModel, "name" | "dimensions">) => Promise<EmbeddingModel | null>;
}

const MAX_BYTES = 20 * 1024 * 1024;
/** Questions in one request. */
const MOST_A_REQUEST = 64;

/** Waits for `work` until `timeoutMs` or an abort; the work goes on for others and the cache. */
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
 * Embeds questions with a model, and keeps the vectors of those asked last in memory. Simultaneous equal
 * questions of an organization are asked once, different ones share requests. Failures are not kept.
 *
 * @example `test/models/embedding/queries.test.ts`
 */
export function cacheQueries(model: EmbeddingModel, options: CacheOptions): QueryEmbeddings {
  const { maxBytes = MAX_BYTES, timeoutMs } = options;
  const others = new Map<string, Promise<QueryEmbeddings | null>>();
  /** Keyed by the question only: a vector does not depend on the organization that asked first. */
  const kept = new LRUCache<string, Float32Array>({
    maxSize: maxBytes,
    // Strings take up to two bytes a character.
    sizeCalculation: (vector, question) => vector.byteLength + 2 * question.length,
  });
  const share = shareRunning<Float32Array>();
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
      throw new DomainError("rejected_by_provider", "The model provider refused to embed the question.");
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
      const work = share(`${organizationId} ${text}`, () => ask(text, organizationId));
      return bounded(work, timeoutMs, signal);
    },
    another({ name, dimensions }) {
      const key = `${name} ${dimensions}`;
      const opening =
        others.get(key) ??
        Promise.resolve(options.open?.({ name, dimensions }) ?? null).then((opened) =>
          opened === null ? null : cacheQueries(opened, { maxBytes, timeoutMs }),
        );
      others.set(key, opening);
      return opening;
    },
    async close() {
      for (const other of await Promise.all(others.values())) await other?.model.close();
    },
  };
}
