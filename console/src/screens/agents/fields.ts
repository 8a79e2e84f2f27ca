/** The fields of an agent that people change, and how the changes of two people are brought together. */
import type { Schemas } from "@holdfast/client";

export type Agent = Schemas["AgentDetails"];

export const FIELDS = [
  "name",
  "description",
  "agent_type",
  "model",
  "system_prompt",
  "temperature",
  "max_tokens",
  "reasoning_config",
  "tool_attachments",
  "data_access_mode",
  "allowed_folder_ids",
  "show_citations",
  "require_support",
  "is_public",
  "save_to_inbox",
] as const;
export type Field = (typeof FIELDS)[number];
export type Fields = Pick<Agent, Field>;

/** What a new agent is, as the service has it where a field is left out. */
export const NEW_AGENT: Fields = {
  name: "",
  description: "",
  agent_type: "simple",
  model: "default",
  system_prompt: "",
  temperature: null,
  max_tokens: null,
  reasoning_config: null,
  tool_attachments: [],
  data_access_mode: "origin",
  allowed_folder_ids: null,
  show_citations: true,
  require_support: false,
  is_public: false,
  save_to_inbox: false,
};

export const fieldsOf = (agent: Fields): Fields =>
  Object.fromEntries(FIELDS.map((field) => [field, agent[field]])) as unknown as Fields;

/** The fields in which `now` differs from `before`: the body of a change. */
export function changesOf(before: Fields, now: Fields): Partial<Fields> {
  const changed = FIELDS.filter((field) => !isSame(before[field], now[field]));
  return Object.fromEntries(changed.map((field) => [field, now[field]])) as Partial<Fields>;
}

export interface Difference {
  readonly field: Field;
  readonly before: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
  /** Who changed it; `both` in different ways, which a person has to decide. */
  readonly by: "mine" | "theirs" | "both";
}

/** What two people made of the same agent, field by field; what both changed alike is no difference. */
export function differencesOf(before: Fields, mine: Fields, theirs: Fields): readonly Difference[] {
  return FIELDS.flatMap((field): Difference[] => {
    if (isSame(mine[field], theirs[field])) return [];
    const values = { field, before: before[field], mine: mine[field], theirs: theirs[field] };
    if (isSame(before[field], theirs[field])) return [{ ...values, by: "mine" }];
    return [{ ...values, by: isSame(before[field], mine[field]) ? "theirs" : "both" }];
  });
}

export type Side = "mine" | "theirs";
export type Choices = Readonly<Partial<Record<Field, Side>>>;

/** Theirs with what one changed alone, and with one's own where `choices` says so. */
export function merged(differences: readonly Difference[], theirs: Fields, choices: Choices): Fields {
  const own = differences.filter(
    ({ field, by }) => (choices[field] ?? (by === "mine" ? "mine" : "theirs")) === "mine",
  );
  return { ...theirs, ...Object.fromEntries(own.map(({ field, mine }) => [field, mine])) };
}

/** As JSON compares them, whatever the order of an object's keys; absent and null are the same. */
export function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(ordered(left)) === JSON.stringify(ordered(right));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined && each !== null)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, ordered(each)]),
  );
}
