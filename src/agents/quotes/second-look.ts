/** Chooses between quotes that have nearly the same words of a statement, by their meaning. */
import type { EmbeddingModel } from "../../models/embedding/embedding-model.ts";
import type { Choice } from "./pick.ts";

/** Looks again at a choice with rivals, and resolves to the best of them or to itself; never rejects. */
export type SecondLook = (statement: string, passage: string, choice: Choice) => Promise<Choice>;

/** @param model a local one: quotes are never sent to a provider. */
export function createSecondLook(model: Pick<EmbeddingModel, "embed">): SecondLook {
  return async (statement, passage, choice) => {
    // A statement that words find in its source does not lose that by a look at the meaning.
    const candidates = [choice, ...choice.rivals].filter(
      ({ quote, support }) => quote !== null && support === choice.support,
    );
    if (candidates.length < 2) return choice;
    const quotes = candidates.map(({ quote }) => passage.slice(...quote!));
    try {
      const [wanted, ...vectors] = await model.embed([statement, ...quotes], "passage");
      if (!wanted) return choice;
      const nearness = vectors.map((vector) => (vector ? dot(wanted, vector) : -1));
      return candidates[nearness.indexOf(Math.max(...nearness))] ?? choice;
    } catch {
      // The model has ended, or it failed with one of the texts.
      return choice;
    }
  };
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, place) => sum + value * other[place]!, 0);
}
