/**
 * Lists what the cost test measures, by family: each takes its subjects from the table that the product
 * itself uses.
 */
import type { SubjectFamily } from "./subjects/subject.ts";

export const FAMILIES = {
  "parsers of text": async (extent) => (await import("./subjects/parsers.ts")).textParsers(extent),
  "parsers of containers": async (extent) => (await import("./subjects/parsers.ts")).containerParsers(extent),
  chunkers: async (extent) => (await import("./subjects/chunkers.ts")).chunkers(extent),
  tokenizers: async (extent) => (await import("./subjects/chunkers.ts")).tokenizers(extent),
  search: async (extent) => (await import("./subjects/search.ts")).searchSubjects(extent),
  requests: async (extent) => (await import("./subjects/requests.ts")).requestSubjects(extent),
  chat: async (extent) => (await import("./subjects/chat.ts")).chatSubjects(extent),
  responses: async () => (await import("./subjects/responses.ts")).responseSubjects(),
  "keys and seals": async () => (await import("./subjects/keys.ts")).keySubjects(),
  events: async () => (await import("./subjects/events.ts")).eventSubjects(),
  functions: async (extent) => (await import("./subjects/functions.ts")).functionSubjects(extent),
} as const satisfies Record<string, SubjectFamily>;

/** Subjects that are bad on purpose, to show that the test can fail. */
const SEEDED: Record<string, SubjectFamily> = {
  seeded: async () => (await import("./subjects/seeded.ts")).seededSubjects(),
};

export type FamilyName = keyof typeof FAMILIES | "seeded";
export const FAMILY_NAMES = Object.keys(FAMILIES) as readonly (keyof typeof FAMILIES)[];

export function familyOf(name: FamilyName): SubjectFamily {
  return ({ ...FAMILIES, ...SEEDED } as Record<string, SubjectFamily>)[name]!;
}
