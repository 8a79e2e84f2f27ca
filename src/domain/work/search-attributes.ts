/** The only list of what workflows can be looked up by in Temporal. Readable by everyone who sees the namespace: ids and states, never names. */

export const SEARCH_ATTRIBUTES = {
  OrganizationId: "Keyword",
  SpaceId: "KeywordList",
  DocumentId: "KeywordList",
  AgentId: "Keyword",
  /** Where it is. */
  Stage: "Keyword",
  /** How it ended. */
  Outcome: "Keyword",
  /** What started it. */
  Trigger: "Keyword",
} as const;
