/** How a search is made: one side of the lab. It is kept in the address as JSON. */
import type { Schemas } from "@holdfast/client";

export interface Settings {
  /** Empty: all that the person reaches, at most twenty. */
  readonly spaces: readonly string[];
  readonly limit: number;
  readonly type: string;
  /** 0: no limit. */
  readonly perDocument: number;
  readonly minScore: number;
  /** Whether the service's reranker, if it has one, has the last word. */
  readonly rerank: boolean;
}

const DEFAULTS: Settings = {
  spaces: [],
  limit: 10,
  type: "",
  perDocument: 0,
  minScore: 0,
  rerank: true,
};
/** The service searches so many spaces in one ranking. */
const MAX_SPACES = 20;

/** What is not valid in an address is as if it were not there. */
export function readSettings(text: string | undefined): Settings {
  try {
    const value = JSON.parse(text ?? "{}") as Partial<Settings>;
    return {
      spaces: Array.isArray(value.spaces) ? value.spaces.filter((id) => typeof id === "string") : [],
      limit: Math.round(within(value.limit, 1, 100, DEFAULTS.limit)),
      type: typeof value.type === "string" ? value.type : "",
      perDocument: Math.round(within(value.perDocument, 0, 100, 0)),
      minScore: within(value.minScore, 0, 1, 0),
      rerank: value.rerank !== false,
    };
  } catch {
    return DEFAULTS;
  }
}

const within = (value: unknown, least: number, most: number, otherwise: number): number =>
  typeof value === "number" && value >= least && value <= most ? value : otherwise;

/** Only what differs from the defaults, so that addresses stay short; undefined if nothing does. */
export function writeSettings(settings: Settings): string | undefined {
  const changed = Object.entries(settings).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[name as keyof Settings]),
  );
  return changed.length === 0 ? undefined : JSON.stringify(Object.fromEntries(changed));
}

export function requestOf(
  query: string,
  { spaces, limit, type, perDocument, minScore, rerank }: Settings,
  reached: readonly string[],
): Schemas["HybridSearch"] {
  return {
    query,
    limit,
    space_ids: (spaces.length > 0 ? [...spaces] : [...reached]).slice(0, MAX_SPACES),
    ...(type === "" ? {} : { filters: { file_type: type } }),
    ...(perDocument === 0 ? {} : { max_chunks_per_document: perDocument }),
    ...(minScore === 0 ? {} : { min_score: minScore }),
    ...(rerank ? {} : { rerank }),
  };
}
