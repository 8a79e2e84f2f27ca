/**
 * Counts what a provider is paid for twice: texts that it embedded again because a fault took their vectors.
 */
import type pg from "pg";
import type { RecordedRequest, ScriptedProvider } from "../support/provider/scripted-provider.ts";
import type { Stack } from "../support/stack/stack.ts";

/** What chat searches for; a question is embedded each time it is asked, so it is not counted. */
const QUESTION = "drill";

export interface Repeats {
  /** The number of texts that the provider embedded. */
  readonly embedded: number;
  /** The number of them that it had embedded before. */
  readonly again: number;
  /**
   * The number of texts that it had embedded at the time of the fault and whose vectors were not stored yet.
   */
  readonly inFlight: number;
}

export interface RepeatsCount {
  /** Call it just before the fault: it records how much is stored. */
  beforeFault(): Promise<void>;
  /**
   * Call it at the moment at which work is lost: what was embedded by now and is not stored may be embedded
   * again. With `ofLoser`, this applies only to texts of the requests for which it returns true. Later calls
   * change nothing.
   */
  lost(ofLoser?: (request: RecordedRequest) => boolean): void;
  now(): Repeats;
}

/** Starts to count; call it while no work is under way. */
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
