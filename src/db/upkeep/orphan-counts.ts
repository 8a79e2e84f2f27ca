/** Counts the orphans of all organizations, and keeps what the last count found. */
import { type Database, queryOnce } from "../pool.ts";
import { listOrganizationsAfter } from "../tenancy/organizations.ts";
import { countFaults } from "./organization-integrity.ts";

interface Found {
  readonly organization_id: string;
  readonly kind: string;
  readonly count: number;
}

export interface OrphanCounts {
  /** How many organizations were looked at. */
  readonly organizations: number;
  /** By kind; each should be 0. */
  readonly counts: Readonly<Record<string, number>>;
  /** The first of those that are not 0, by organization. */
  readonly found: readonly Found[];
}

export interface KeptOrphanCounts extends OrphanCounts {
  /** Null if nobody has counted yet. */
  readonly counted_at: Date | null;
}

const ORGANIZATIONS_A_PAGE = 100;
const MOST_FOUND = 1_000;

/**
 * Reads most of what every organization has, one after the other.
 * @param signal ends the count between two organizations.
 * @throws the signal's reason.
 */
export async function countOrphans(db: Database, signal?: AbortSignal): Promise<OrphanCounts> {
  const counts: Record<string, number> = {};
  const found: Found[] = [];
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

function present(organizationId: string, faults: [kind: string, count: number][]): Found[] {
  return faults
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => ({ organization_id: organizationId, kind, count }));
}

/** Counts, unless a process began to within `everyMinutes`. @returns whether it counted. */
export async function countWhenDue(
  db: Database,
  everyMinutes: number,
  signal: AbortSignal,
): Promise<boolean> {
  const taken = await queryOnce(
    db.system,
    `update orphan_counts
     set begun_at = now()
     where begun_at is null
        or begun_at < now() - make_interval(mins => $1)`,
    [everyMinutes],
  );
  if (taken.rowCount === 0) return false;
  const { organizations, counts, found } = await countOrphans(db, signal);
  await queryOnce(
    db.system,
    `update orphan_counts
     set counted_at = now(),
         organizations = $1,
         counts = $2,
         found = $3`,
    [organizations, JSON.stringify(counts), JSON.stringify(found)],
  );
  return true;
}

/** @throws DomainError `database_unavailable`. */
export async function readOrphanCounts(db: Database): Promise<KeptOrphanCounts> {
  const { rows } = await queryOnce<KeptOrphanCounts>(
    db.system,
    "select counted_at, organizations, counts, found from orphan_counts",
  );
  return rows[0] ?? { counted_at: null, organizations: 0, counts: {}, found: [] };
}
