/** Counts the faults of an organization: rows that should not exist, and terms that its index lacks. */
import { type Database, type OrganizationRef, inTenant } from "../db/pool.ts";
import { type IntegrityCounts, countFaultsOf, listSegments } from "../db/upkeep/organization-integrity.ts";
import { countIndexedTerms } from "../search/index/indexed-terms.ts";

/** Counts as of one moment. */
export async function countFaults(db: Database, organization: OrganizationRef): Promise<IntegrityCounts> {
  return inTenant(
    db,
    organization,
    async (sql) => {
      const terms = await countIndexedTerms(sql, await listSegments(sql, organization));
      return countFaultsOf(sql, organization, terms);
    },
    "isolation level repeatable read",
  );
}
