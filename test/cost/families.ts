/** The only list of what the cost test measures, by family: each takes its subjects from the table that the product itself uses. */
import type { SubjectFamily } from "./subject.ts";

export const FAMILIES = {
  "parsers of text": async () => (await import("./parser-subjects.ts")).textParsers(),
  "parsers of containers": async () => (await import("./parser-subjects.ts")).containerParsers(),
  chunkers: async () => (await import("./chunker-subjects.ts")).chunkers(),
  tokenizers: async () => (await import("./chunker-subjects.ts")).tokenizers(),
  search: async () => (await import("./search-subjects.ts")).searchSubjects(),
  requests: async () => (await import("./request-subjects.ts")).requestSubjects(),
  chat: async () => (await import("./chat-subjects.ts")).chatSubjects(),
} as const satisfies Record<string, SubjectFamily>;

export type FamilyName = keyof typeof FAMILIES;
export const FAMILY_NAMES = Object.keys(FAMILIES) as readonly FamilyName[];
