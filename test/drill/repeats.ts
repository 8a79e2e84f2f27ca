/**
 * The only place that counts what a provider is paid for twice: texts that it embedded again because a fault
 * took their vectors.
 */
import type pg from "pg";
import type { RecordedRequest, ScriptedProvider } from "../support/provider/scripted-provider.ts";
import type { Stack } from "../support/stack/stack.ts";

/** What chat searches for: a question is embedded whenever it is asked. */
const QUESTION = "drill";

export interface Repeats {
  /** Texts that the provider embedded. */
  readonly embedded: number;
  /** Those among them that it had embedded before. */
  readonly again: number;
  /** Texts that it had embedded when the fault came and whose vectors were not kept yet. */
  readonly inFlight: number;
}

export interface RepeatsCount {
  /** Just before the fault: how much is kept. */
  beforeFault(): Promise<void>;
  /**
   * The moment at which work is lost: what was embedded by now and is not kept may be embedded again. With
   * `ofLoser`, only what the requests that it is true of asked for may. Later calls change nothing.
   */
  lost(ofLoser?: (request: RecordedRequest) => boolean): void;
  now(): Repeats;
}

/** Counts from here on, where nothing is under way. */
export async function countRepeats({ provider, database }: Stack): Promise<RepeatsCount> {
  const from = performance.now();
  const keptAtStart = await countKept(database.db.owner);
  let kept = 0;
  let inFlight: number | undefined;
  const served = (): ScriptedProvider["requests"] =>
    provider.requests.filter((request) => request.route === "embeddings" && !request.isRefused);
  const embedded = (isCounted: (request: RecordedRequest) => boolean = () => true): string[] =>
    served().flatMap((request) =>
      request.at >= from && isCounted(request) ? textsOf(request.body["input"]) : [],
    );
  const before = new Set(served().flatMap((request) => textsOf(request.body["input"])));
  return {
    async beforeFault() {
      kept = (await countKept(database.db.owner)) - keptAtStart;
    },
    lost(ofLoser) {
      inFlight ??= Math.max(
        0,
        [...new Set(embedded(ofLoser))].filter((text) => !before.has(text)).length - kept,
      );
    },
    now() {
      const texts = embedded();
      return { embedded: texts.length, again: texts.length - new Set(texts).size, inFlight: inFlight ?? 0 };
    },
  };
}

const textsOf = (input: string | readonly string[]): string[] =>
  [input].flat().filter((text) => text !== QUESTION);

async function countKept(owner: pg.Pool): Promise<number> {
  return (await owner.query<{ count: number }>("select count(*)::int as count from embedding_cache")).rows[0]!
    .count;
}
