/** SQL of what the last count of orphans found. @see src/integrity/orphan-counts.ts */
import { type Database, queryOnce } from "../pool.ts";

export interface FoundOrphans {
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
  readonly found: readonly FoundOrphans[];
}

export interface KeptOrphanCounts extends OrphanCounts {
  /** Null if nobody has counted yet. */
  readonly counted_at: Date | null;
}

/** @returns false if a process began to count within `everyMinutes`. */
export async function beginCount(db: Database, everyMinutes: number): Promise<boolean> {
  const taken = await queryOnce(
    db.system,
    `update orphan_counts
     set begun_at = now()
     where begun_at is null
        or begun_at < now() - make_interval(mins => $1)`,
    [everyMinutes],
  );
  return taken.rowCount === 1;
}

export async function keepCounts(
  db: Database,
  { organizations, counts, found }: OrphanCounts,
): Promise<void> {
  await queryOnce(
    db.system,
    `update orphan_counts
     set counted_at = now(),
         organizations = $1,
         counts = $2,
         found = $3`,
    [organizations, JSON.stringify(counts), JSON.stringify(found)],
  );
}

/** @throws DomainError `database_unavailable`. */
export async function readOrphanCounts(db: Database): Promise<KeptOrphanCounts> {
  const { rows } = await queryOnce<KeptOrphanCounts>(
    db.system,
    "select counted_at, organizations, counts, found from orphan_counts",
  );
  return rows[0] ?? { counted_at: null, organizations: 0, counts: {}, found: [] };
}
