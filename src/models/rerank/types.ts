/** What a reranker is. */

export interface Reranker {
  /**
   * How well each text answers the question, in the order of the texts, on the provider's own scale. A score
   * is null if the provider refuses the text while it takes others, or if there was no time to find out
   * whether it does.
   *
   * @throws DomainError `provider_timeout`, `provider_unavailable`; the reason of `signal` after it is
   *   aborted.
   */
  rank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<Array<number | null>>;
}
