/** What the maintenance workflow and its activities tell one another, and how long things are kept. */

export interface MaintenanceInput {
  /** True once a day: besides, everything is compared with everything, objects included. */
  readonly isThorough: boolean;
}

export interface OrganizationInput extends MaintenanceInput {
  readonly organization: { readonly id: string; readonly num: number };
}

/** How many of each kind were removed or put right; kinds without any are left out. */
export type MaintenanceCounts = Readonly<Record<string, number>>;

/** An organization's maintenance, page by page. */
export const ORGANIZATIONS_A_PAGE = 100;
/** Rows of one transaction that deletes. */
export const ROWS_A_PURGE = 5_000;
export const KEPT_AUDIT_DAYS = 400;
/** Runs of a document whose rows are kept. */
export const KEPT_RUNS = 50;

/** Adds up counts by kind. */
export function addCounts(one: MaintenanceCounts, other: MaintenanceCounts): MaintenanceCounts {
  const sum: Record<string, number> = { ...one };
  for (const [kind, count] of Object.entries(other)) if (count > 0) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}
