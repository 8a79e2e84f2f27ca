/** Ranks texts of which some may be refused: all at once, then in smaller requests until it is found. */
import { DomainError } from "../../domain/errors.ts";
import { refusedTexts } from "../../telemetry/instruments.ts";
import { KNOWN_TEXT } from "../provider/known-text.ts";
import { MayBeOfOneText } from "../provider/error.ts";

/** Requests of one search: enough to find one refused text of fifty. What is left has no score. */
const MOST_REQUESTS = 16;

type Scores = Array<number | null>;
type Ask = (texts: readonly string[]) => Promise<Scores>;

/**
 * Scores in the order of the texts; null for a text that is refused while {@link KNOWN_TEXT} is not.
 *
 * @throws what `ask` throws, except {@link MayBeOfOneText}; DomainError `provider_unavailable` if the known
 *   text is refused too.
 */
export async function rankEach(texts: readonly string[], ask: Ask): Promise<Scores> {
  const scores: Scores = texts.map(() => null);
  let requests = 0;
  let isKnownToWork: Promise<void> | undefined;

  const askFor = async (some: readonly string[]): Promise<Scores | "rejected"> => {
    requests++;
    return ask(some).catch((error: unknown) => {
      if (error instanceof MayBeOfOneText) return "rejected" as const;
      throw error;
    });
  };
  const assertWorks = async (): Promise<void> => {
    const answer = await askFor([KNOWN_TEXT]);
    if (answer === "rejected" || typeof answer[0] !== "number")
      throw new DomainError("provider_unavailable", "The reranker refuses a text that any model takes.");
  };
  const rankSome = async (places: readonly number[]): Promise<void> => {
    if (places.length === 0 || requests >= MOST_REQUESTS) return;
    const answer = await askFor(places.map((place) => texts[place]!));
    const isScored = (at: number): boolean => answer !== "rejected" && answer[at] !== null;
    if (answer !== "rejected") for (const [at, place] of places.entries()) scores[place] = answer[at] ?? null;
    const left = places.filter((_, at) => !isScored(at));
    if (left.length === 0) return;
    isKnownToWork ??= assertWorks();
    await isKnownToWork;
    if (places.length === 1)
      return refusedTexts.inc({
        operation: "rerank",
        reason: answer === "rejected" ? "rejected" : "unusable",
      });
    // If others of this request were scored, what is left is a smaller request already.
    const middle = left.length < places.length ? left.length : Math.ceil(left.length / 2);
    await Promise.all([rankSome(left.slice(0, middle)), rankSome(left.slice(middle))]);
  };
  await rankSome(texts.map((_, place) => place));
  return scores;
}
