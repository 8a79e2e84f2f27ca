/** Compares everything of one organization with everything, by functions of the database: for the command line, metrics and thorough maintenance. Reads much. */
import { type Database, type OrganizationKey, type Sql, inTenant } from "./pool.ts";
import { countIndexedTerms } from "./search/indexed-terms.ts";

/** Rows of any kind whose number must be 0. */
export interface IntegrityCounts {
  readonly chunks_without_run: number;
  readonly text_without_run: number;
  readonly entries_without_run: number;
  readonly entries_not_served: number;
  readonly published_incomplete: number;
  readonly published_hidden: number;
  readonly runs_without_claim: number;
  readonly documents_without_file: number;
  readonly statistics_wrong: number;
}

export interface OrphanRun {
  readonly run_num: number;
  readonly space_num: number | null;
  readonly kind: "chunks_without_run" | "text_without_run" | "entries_without_run" | "entries_not_served";
}

/** Far above what a request may take: all chunks and vectors of an organization are counted. */
const PATIENCE = "set local statement_timeout = '1h'";

/** Run numbers that left something behind: whose row is gone, or whose search entries no version serves. */
export async function findOrphanRuns(db: Database, organization: OrganizationKey): Promise<OrphanRun[]> {
  return inTenant(db, organization, async (sql) => {
    await sql.query(PATIENCE);
    return listOrphanRuns(sql);
  });
}

async function listOrphanRuns(sql: Sql): Promise<OrphanRun[]> {
  return (await sql.query<OrphanRun>("select run_num, space_num, kind from orphan_runs()")).rows;
}

/** Everything is of one moment. */
export async function countFaults(db: Database, organization: OrganizationKey): Promise<IntegrityCounts> {
  const count = async (sql: Sql): Promise<IntegrityCounts> => {
    await sql.query(PATIENCE);
    const orphans = await listOrphanRuns(sql);
    const segments = await sql.query<{ num: number }>("select num from posting_segments where organization_num = $1", [organization.num]);
    // Postings can be counted here alone.
    const terms = await countIndexedTerms(
      sql,
      segments.rows.map((row) => row.num),
    );
    const { rows } = await sql.query<Omit<IntegrityCounts, OrphanRun["kind"]>>("select * from count_faults($1, $2)", [[...terms.keys()], [...terms.values()]]);
    const orphansOf = (kind: OrphanRun["kind"]): number => orphans.filter((orphan) => orphan.kind === kind).length;
    return {
      chunks_without_run: orphansOf("chunks_without_run"),
      text_without_run: orphansOf("text_without_run"),
      entries_without_run: orphansOf("entries_without_run"),
      entries_not_served: orphansOf("entries_not_served"),
      ...rows[0]!,
    };
  };
  return inTenant(db, organization, count, "isolation level repeatable read");
}
