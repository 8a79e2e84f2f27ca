/** How long a key lives: what the form asks, as the service takes it. */

/** `""`: as the organization says; a number of days; or `date` with a day. */
export interface Lifetime {
  readonly choice: string;
  readonly date: string;
}

const DAYS = [7, 30, 90, 180, 365] as const;
export const ON_DATE = "date";
export const BY_DEFAULT: Lifetime = { choice: "", date: "" };

const SECOND_MS = 1_000;
const DAY_SECONDS = 86_400;

/** Null: as the organization says. A date is meant to its end, where the person is. */
export function expiryOf({ choice, date }: Lifetime, now = Date.now()): string | null {
  if (choice === "") return null;
  if (choice !== ON_DATE) return new Date(now + Number(choice) * DAY_SECONDS * SECOND_MS).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) ? null : end.toISOString();
}

/** The choices of days that the organization allows. */
export const allowedDays = (longestSeconds: number | null): readonly number[] =>
  DAYS.filter((days) => longestSeconds === null || days * DAY_SECONDS <= longestSeconds);

export const inDays = (seconds: number): number => Math.round((seconds / DAY_SECONDS) * 100) / 100;
