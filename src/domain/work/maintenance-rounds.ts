/** The messages between the maintenance workflow and its activities, and retention times. */

export interface MaintenanceInput {
  /** True once a day: the round then also checks the integrity of rows and objects against each other. */
  readonly isThorough: boolean;
}

export interface OrganizationInput extends MaintenanceInput {
  readonly organization: { readonly id: string; readonly num: number };
}

/** How many of each kind were removed or repaired; kinds with none are left out. */
export type MaintenanceCounts = Readonly<Record<string, number>>;

/** How many organizations the workflow lists at a time. */
export const ORGANIZATIONS_A_PAGE = 100;
export const ROWS_A_PURGE = 5_000;
export const KEPT_AUDIT_DAYS = 400;
export const KEPT_RUNS = 50;

export function addCounts(one: MaintenanceCounts, other: MaintenanceCounts): MaintenanceCounts {
  const sum: Record<string, number> = { ...one };
  for (const [kind, count] of Object.entries(other)) if (count > 0) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}
