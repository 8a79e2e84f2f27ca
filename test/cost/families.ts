/** The only list of what the cost test measures, by family: each takes its subjects from the table that the product itself uses. */
import type { SubjectFamily } from "./subject.ts";

export const FAMILIES = {
  "parsers of text": async (extent) => (await import("./parser-subjects.ts")).textParsers(extent),
  "parsers of containers": async (extent) => (await import("./parser-subjects.ts")).containerParsers(extent),
  chunkers: async (extent) => (await import("./chunker-subjects.ts")).chunkers(extent),
  tokenizers: async (extent) => (await import("./chunker-subjects.ts")).tokenizers(extent),
  search: async (extent) => (await import("./search-subjects.ts")).searchSubjects(extent),
  requests: async (extent) => (await import("./request-subjects.ts")).requestSubjects(extent),
  chat: async (extent) => (await import("./chat-subjects.ts")).chatSubjects(extent),
  "keys and seals": async () => (await import("./key-subjects.ts")).keySubjects(),
  functions: async (extent) => (await import("./function-subjects.ts")).functionSubjects(extent),
} as const satisfies Record<string, SubjectFamily>;

/** Subjects that are bad on purpose: they show that the test can fail. */
const SEEDED: Record<string, SubjectFamily> = { seeded: async () => (await import("./seeded-subjects.ts")).seededSubjects() };

export type FamilyName = keyof typeof FAMILIES | "seeded";
export const FAMILY_NAMES = Object.keys(FAMILIES) as readonly (keyof typeof FAMILIES)[];

export function familyOf(name: FamilyName): SubjectFamily {
  return ({ ...FAMILIES, ...SEEDED } as Record<string, SubjectFamily>)[name]!;
}
