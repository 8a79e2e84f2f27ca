/** The steps of index upkeep, in bounded transactions. Each may be repeated, and several may run at once. */
import { Context } from "@temporalio/activity";
import { type Sql, inTenant } from "../../db/pool.ts";
import { listSpacesToMeasure } from "../../db/search/index/language-fit.ts";
import { listSpacesToEmbed, queueOutdated } from "../../db/search/index/outdated-models.ts";
import { findOutdatedSegment, readSegmentTexts } from "../../db/search/index/reindex.ts";
import { listSpacesToIndex, updateVectorIndexes } from "../../db/search/index/vector-indexes.ts";
import { findSegmentsToPurge, listDueSpaces } from "../../db/search/index/due-segments.ts";
import { SPACES_A_ROUND, type SpaceInput } from "../../domain/work/index-upkeep.ts";
import { type MaintenanceCounts, addCounts } from "../../domain/work/maintenance-rounds.ts";
import { rewriteSegment } from "../../search/index/reindex.ts";
import { mergeSegments, purgeSegment } from "../../search/index/segments.ts";
import { ANALYZER_VERSION } from "../../search/text/analyzer.ts";
import { chunkTerms } from "../../search/text/chunk-terms.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { withHeartbeat } from "../heartbeat.ts";
import type { PipelineDeps } from "../pipeline/pipeline-deps.ts";
import { measureLanguages } from "./measure-languages.ts";

type UpkeepDeps = Pick<PipelineDeps, "db" | "embedding" | "wakeBatchRuns">;

export async function listSpacesToTend({ db, embedding }: UpkeepDeps): Promise<SpaceInput[]> {
  const due = [
    ...(await listDueSpaces(db.system, ANALYZER_VERSION, SPACES_A_ROUND)),
    ...(await listSpacesToIndex(db.system, SPACES_A_ROUND)),
    ...(await listSpacesToEmbed(db.system, embedding.name, SPACES_A_ROUND)),
    ...(await listSpacesToMeasure(db.system, SPACES_A_ROUND)),
  ];
  return [...new Map(due.map((space) => [space.spaceNum, space])).values()];
}

type Tenant = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

/**
 * Purges, rewrites and merges segments of the space until nothing is due, queues documents that another model
 * embedded, measures how well the models tell its texts apart, and builds or drops the vector index.
 * @returns how much was done, by kind of work.
 */
export async function tendSpace(deps: UpkeepDeps, space: SpaceInput): Promise<MaintenanceCounts> {
  return withHeartbeat(() => tend(deps, space));
}

async function tend(
  { db, embedding, wakeBatchRuns }: UpkeepDeps,
  { organization, spaceNum }: SpaceInput,
): Promise<MaintenanceCounts> {
  const tenant: Tenant = (work) => inTenant(db, organization, work);
  const purged = await tenant((sql) => findSegmentsToPurge(sql, { spaceNum }));
  await drillPoint("indexUpkeep: segments to purge found");
  for (const segment of purged) await tenant((sql) => purgeSegment(sql, segment));
  let counts: MaintenanceCounts = { purged_segments: purged.length };
  counts = addCounts(counts, {
    rewritten_segments: await rewriteOutdated(tenant, organization.num, spaceNum),
  });
  let merged: number;
  do {
    merged = await tenant((sql) => mergeSegments(sql, organization.num, spaceNum));
    counts = addCounts(counts, { merged_segments: merged });
  } while (merged > 0);
  const queued = await tenant((sql) => queueOutdated(sql, spaceNum, embedding.name));
  if (queued > 0) wakeBatchRuns(organization);
  counts = addCounts(counts, {
    queued_runs: queued,
    measured_fits: await measureLanguages(db, organization, spaceNum),
  });
  return addCounts(counts, { vector_indexes: await updateVectorIndexes(db, organization.num, spaceNum) });
}

/** Analyzes the text before it locks anything, because that takes most of the time. */
async function rewriteOutdated(tenant: Tenant, organizationNum: number, spaceNum: number): Promise<number> {
  for (let rewritten = 0; ; rewritten++) {
    Context.current().cancellationSignal.throwIfAborted();
    const segmentNum = await tenant((sql) => findOutdatedSegment(sql, spaceNum, ANALYZER_VERSION));
    if (segmentNum === undefined) return rewritten;
    const texts = await tenant((sql) => readSegmentTexts(sql, segmentNum));
    const chunks = texts.map((chunk) => ({
      runNum: chunk.run_num,
      chunkIndex: chunk.chunk_index,
      ...chunkTerms(chunk),
    }));
    await drillPoint("indexUpkeep: segment analyzed, not rewritten");
    const isRewritten = await tenant((sql) =>
      rewriteSegment(
        sql,
        { organizationNum, spaceNum, segmentNum, analyzerVersion: ANALYZER_VERSION },
        chunks,
      ),
    );
    if (!isRewritten) return rewritten;
  }
}
