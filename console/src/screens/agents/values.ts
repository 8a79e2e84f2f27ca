/** The fields of an agent that people change, and what two people's changes of one agent come to. */
import type { Schemas } from "@holdfast/client";

export type Agent = Schemas["AgentDetails"];
export type Values = Pick<
  Agent,
  | "name"
  | "description"
  | "agent_type"
  | "system_prompt"
  | "model"
  | "temperature"
  | "max_tokens"
  | "reasoning_config"
  | "tool_attachments"
  | "is_public"
  | "show_citations"
  | "require_support"
  | "save_to_inbox"
  | "data_access_mode"
  | "allowed_folder_ids"
>;
export type Field = keyof Values;

export const NEW_AGENT: Values = {
  name: "",
  description: "",
  agent_type: "rag",
  system_prompt: "",
  model: "default",
  temperature: null,
  max_tokens: null,
  reasoning_config: null,
  tool_attachments: [],
  is_public: false,
  show_citations: true,
  require_support: false,
  save_to_inbox: false,
  data_access_mode: "origin",
  allowed_folder_ids: null,
};

export const FIELDS = Object.keys(NEW_AGENT) as Field[];

export const valuesOf = (agent: Agent): Values =>
  Object.fromEntries(FIELDS.map((field) => [field, agent[field]])) as unknown as Values;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What differs from `base`, and nothing else. */
export const changesFrom = (base: Values, values: Values): Partial<Values> =>
  Object.fromEntries(
    FIELDS.filter((field) => !isSame(base[field], values[field])).map((field) => [field, values[field]]),
  );

/** The fields that both have changed since `base`, each in another way: somebody has to choose. */
export const conflictsOf = (base: Values, mine: Values, theirs: Values): Field[] =>
  FIELDS.filter(
    (field) =>
      !isSame(mine[field], base[field]) &&
      !isSame(theirs[field], base[field]) &&
      !isSame(mine[field], theirs[field]),
  );
