/** The search attributes of workflows. The whole namespace can read them: ids and states, never names. */

export const SEARCH_ATTRIBUTES = {
  OrganizationId: "Keyword",
  SpaceId: "KeywordList",
  DocumentId: "KeywordList",
  AgentId: "Keyword",
  /** The current stage of its work. */
  Stage: "Keyword",
  /** How the workflow ended. */
  Outcome: "Keyword",
  /** What started the workflow. */
  Trigger: "Keyword",
} as const;
