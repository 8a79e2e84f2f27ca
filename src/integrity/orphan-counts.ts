/** Counts the orphans of all organizations. */
import type { Database } from "../db/pool.ts";
import { listOrganizationsAfter } from "../db/tenancy/organizations.ts";
import { type FoundOrphans, type OrphanCounts, beginCount, keepCounts } from "../db/upkeep/orphan-counts.ts";
import { countFaults } from "./organization.ts";

const ORGANIZATIONS_A_PAGE = 100;
const MOST_FOUND = 1_000;

/**
 * Reads most of what every organization has, one after the other.
 * @param signal ends the count between two organizations.
 * @throws the signal's reason.
 */
export async function countOrphans(db: Database, signal?: AbortSignal): Promise<OrphanCounts> {
  const counts: Record<string, number> = {};
  const found: FoundOrphans[] = [];
  let seen = 0;
  for (let after = 0; ;) {
    const organizations = await listOrganizationsAfter(db.system, after, ORGANIZATIONS_A_PAGE);
    for (const organization of organizations) {
      signal?.throwIfAborted();
      const faults = Object.entries(await countFaults(db, organization));
      for (const [kind, count] of faults) counts[kind] = (counts[kind] ?? 0) + count;
      found.push(...present(organization.id, faults).slice(0, MOST_FOUND - found.length));
      seen += 1;
    }
    if (organizations.length < ORGANIZATIONS_A_PAGE) return { organizations: seen, counts, found };
    after = organizations.at(-1)!.num;
  }
}

function present(organizationId: string, faults: [kind: string, count: number][]): FoundOrphans[] {
  return faults
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => ({ organization_id: organizationId, kind, count }));
}

/**
 * Counts and keeps what it found, unless a process began to within `everyMinutes`.
 * @returns whether it counted.
 */
export async function countWhenDue(
  db: Database,
  everyMinutes: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await beginCount(db, everyMinutes))) return false;
  await keepCounts(db, await countOrphans(db, signal));
  return true;
}
