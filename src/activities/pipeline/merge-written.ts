/** Merges the segments of the inverted index after a publish. */
import { type OrganizationRef, type Sql, inTenant } from "../../db/pool.ts";
import { isMergeDue } from "../../db/search/index/segments.ts";
import { MAX_PUBLISH_CHUNKS } from "../../domain/work/processing.ts";
import { mergeSegments } from "../../search/index/segments.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";

/** Merges small segments at once: each query reads a block of every segment. Upkeep retries what fails. */
export async function mergeWritten(
  deps: PipelineDeps,
  organization: OrganizationRef,
  spaceNum: number,
): Promise<void> {
  try {
    const tenant = <T>(step: (sql: Sql) => Promise<T>): Promise<T> => inTenant(deps.db, organization, step);
    const merge = async (): Promise<number> => {
      const merged = await tenant((sql) => mergeSegments(sql, organization.num, spaceNum));
      if (merged > 0 || !(await tenant((sql) => isMergeDue(sql, spaceNum)))) return merged;
      // In its own transaction, which holds no segment while it waits for one: two could block each other.
      return tenant((sql) => mergeSegments(sql, organization.num, spaceNum, "awaited"));
    };
    const demand = { owner: { organizationId: organization.id, userId: null }, size: MAX_PUBLISH_CHUNKS };
    let merged: number;
    do {
      merged = await deps.writes(demand, merge);
    } while (merged > 0);
  } catch (error) {
    deps.log.warn({ err: error, space_num: spaceNum }, "segments were not merged");
  }
}
