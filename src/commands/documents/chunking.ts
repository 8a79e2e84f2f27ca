/** How a caller wants documents to be chunked, and the bound that the embedding model sets. */
import { ValidationProblems } from "../../schema/requests/problem.ts";

/** Has the names of the API, in which a run stores it. */
type ChunkerConfig = Readonly<Record<"max_tokens" | "overlap_tokens", number>>;

export interface Chunking {
  /** Null: the chunker of the version before. */
  readonly chunkerName: string | null;
  /** Null: the configuration of the version before if its chunker is kept, else the chunker's defaults. */
  readonly chunkerConfig: ChunkerConfig | null;
}

/** @throws ValidationProblems if chunks would be larger than what the model embeds. */
export function requireEmbeddable(config: ChunkerConfig | null, maxTokens: number): void {
  if (config === null || config.max_tokens <= maxTokens) return;
  throw new ValidationProblems([
    {
      type: "less_than_equal",
      loc: ["body", "chunker_config", "max_tokens"],
      msg: `Input should be less than or equal to ${maxTokens}`,
      input: config.max_tokens,
      ctx: { le: maxTokens },
    },
  ]);
}
