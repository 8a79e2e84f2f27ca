/** Adds the rows of usage up: by day for charts, and by person, agent and key. */
/** A row of the service's usage. */
export interface Row {
  readonly day: string;
  readonly user_id: string | null;
  readonly api_key_id: string | null;
  readonly agent_id: string | null;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly turns: number;
  readonly documents: number;
  readonly bytes: number;
}

export const MEASURES = ["turns", "tokens", "documents", "bytes"] as const;
export type Measure = (typeof MEASURES)[number];
export type Sums = Readonly<Record<Measure, number>>;
export type By = "user" | "agent" | "key";

const DAY_MS = 86_400_000;
const NOTHING: Sums = { turns: 0, tokens: 0, documents: 0, bytes: 0 };

const plus = (sums: Sums, row: Row): Sums => ({
  turns: sums.turns + row.turns,
  tokens: sums.tokens + row.prompt_tokens + row.completion_tokens,
  documents: sums.documents + row.documents,
  bytes: sums.bytes + row.bytes,
});

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The last `count` days in UTC with today: the first one, and the one after the last. */
export function rangeOf(count: number, now = Date.now()): { readonly from: string; readonly to: string } {
  const tomorrow = new Date(`${dayOf(now)}T00:00:00Z`).getTime() + DAY_MS;
  return { from: dayOf(tomorrow - count * DAY_MS), to: dayOf(tomorrow) };
}

export interface Day {
  readonly day: string;
  readonly sums: Sums;
}

/** Each day of the range, also such as have nothing. */
export function daysOf(rows: readonly Row[], { from, to }: ReturnType<typeof rangeOf>): readonly Day[] {
  const sums = new Map<string, Sums>();
  for (const row of rows) sums.set(row.day, plus(sums.get(row.day) ?? NOTHING, row));
  const days: Day[] = [];
  for (let time = Date.parse(from); time < Date.parse(to); time += DAY_MS) {
    const day = dayOf(time);
    days.push({ day, sums: sums.get(day) ?? NOTHING });
  }
  return days;
}

export const totalOf = (rows: readonly Row[]): Sums => rows.reduce(plus, NOTHING);

const idOf = (row: Row, by: By): string | null => {
  if (by === "user") return row.user_id;
  return by === "agent" ? row.agent_id : row.api_key_id;
};

/** Those with most answers and then most documents first. */
export function sumsBy(
  rows: readonly Row[],
  by: By,
): ReadonlyArray<{ readonly id: string | null; readonly sums: Sums }> {
  const sums = new Map<string | null, Sums>();
  for (const row of rows) {
    const id = idOf(row, by);
    sums.set(id, plus(sums.get(id) ?? NOTHING, row));
  }
  return [...sums]
    .map(([id, each]) => ({ id, sums: each }))
    .toSorted((a, b) => b.sums.turns - a.sums.turns || b.sums.documents - a.sums.documents);
}
