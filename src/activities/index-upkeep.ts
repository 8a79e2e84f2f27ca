/** The steps of the workflow that tends search indexes, in bounded transactions; each may be repeated, and several may run at once. */
import { Context } from "@temporalio/activity";
import { type Database, type Sql, inTenant } from "../db/pool.ts";
import { findOutdatedSegment, readSegmentTexts, rewriteSegment } from "../db/search/reindex.ts";
import { listSpacesToIndex, tendVectorIndexes } from "../db/search/vector-indexes.ts";
import { findSegmentsToPurge, listSpacesToTend as listDueSpaces, mergeSegments, purgeSegment } from "../db/search/segments.ts";
import { SPACES_A_ROUND, type SpaceInput } from "../domain/index-upkeep.ts";
import { type MaintenanceCounts, addCounts } from "../domain/maintenance.ts";
import { ANALYZER_VERSION, analyze } from "../search/analyzer.ts";
import { asActivityFailure } from "./failure.ts";
import { withHeartbeat } from "./heartbeat.ts";

interface UpkeepDeps {
  readonly db: Database;
}

export async function listSpacesToTend({ db }: UpkeepDeps): Promise<SpaceInput[]> {
  try {
    const due = [...(await listDueSpaces(db.system, ANALYZER_VERSION, SPACES_A_ROUND)), ...(await listSpacesToIndex(db.system, SPACES_A_ROUND))];
    return [...new Map(due.map((space) => [space.spaceNum, space])).values()];
  } catch (error) {
    throw asActivityFailure(error);
  }
}

type Tenant = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

/** Purges, writes anew and merges what is due in the space, until nothing is, and builds or drops its vectors' index. @returns how many, by kind. */
export async function tendSpace({ db }: UpkeepDeps, { organization, spaceNum }: SpaceInput): Promise<MaintenanceCounts> {
  const tenant: Tenant = (work) => inTenant(db, organization, work);
  try {
    return await withHeartbeat(() => tend(db, tenant, organization.num, spaceNum));
  } catch (error) {
    throw asActivityFailure(error);
  }
}

async function tend(db: Database, tenant: Tenant, organizationNum: number, spaceNum: number): Promise<MaintenanceCounts> {
  const purged = await tenant((sql) => findSegmentsToPurge(sql, { spaceNum }));
  for (const segment of purged) await tenant((sql) => purgeSegment(sql, segment));
  let counts: MaintenanceCounts = { purged_segments: purged.length };
  counts = addCounts(counts, { rewritten_segments: await rewriteOutdated(tenant, organizationNum, spaceNum) });
  for (let merged = 0; (merged = await tenant((sql) => mergeSegments(sql, organizationNum, spaceNum))) > 0;) counts = addCounts(counts, { merged_segments: merged });
  return addCounts(counts, { vector_indexes: await tendVectorIndexes(db, organizationNum, spaceNum) });
}

/** The text is analyzed before anything is locked: that takes the time. */
async function rewriteOutdated(tenant: Tenant, organizationNum: number, spaceNum: number): Promise<number> {
  for (let rewritten = 0; ; rewritten++) {
    Context.current().cancellationSignal.throwIfAborted();
    const segmentNum = await tenant((sql) => findOutdatedSegment(sql, spaceNum, ANALYZER_VERSION));
    if (segmentNum === undefined) return rewritten;
    const texts = await tenant((sql) => readSegmentTexts(sql, segmentNum));
    const chunks = texts.map(({ run_num, chunk_index, text }) => ({ runNum: run_num, chunkIndex: chunk_index, terms: analyze(text).terms }));
    const isRewritten = await tenant((sql) => rewriteSegment(sql, { organizationNum, spaceNum, segmentNum, analyzerVersion: ANALYZER_VERSION }, chunks));
    if (!isRewritten) return rewritten;
  }
}
