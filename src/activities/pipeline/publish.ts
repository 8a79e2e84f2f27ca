/** The last step of the pipeline: in one transaction indexes a member's chunks and makes search serve it. */
import { chunkTexts } from "../../db/runs/chunks.ts";
import { type Sql, inTenant } from "../../db/pool.ts";
import {
  type Publishable,
  addTermCounts,
  countEntries,
  flipPublished,
  lockForPublish,
  noteModel,
} from "../../db/runs/publish.ts";
import { firstUnwritten, noteRefused, readRefused } from "../../db/runs/refused-chunks.ts";
import { type Member, clearSuspicion } from "../../db/runs/attempt.ts";
import { deleteOtherVectors, insertEmbeddingsFromCache } from "../../db/search/write-embeddings.ts";
import { hideRun } from "../../db/search/hidden.ts";
import { type IndexedChunk, insertPostings } from "../../search/index/postings.ts";
import { createTimeSlice } from "../../process/time-slice.ts";
import { DomainError } from "../../domain/errors.ts";
import { type AttemptInput, MAX_PUBLISH_CHUNKS } from "../../domain/work/processing.ts";
import { ANALYZER_VERSION } from "../../search/text/analyzer.ts";
import { chunkTerms } from "../../search/text/chunk-terms.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { pipelineOutcomes } from "../../telemetry/instruments.ts";
import { pipelineStage } from "../../telemetry/stage.ts";
import { type Demand } from "../../process/concurrency/fair-gate.ts";
import { inTurns } from "../../process/concurrency/in-turns.ts";
import { mergeWritten } from "./merge-written.ts";
import { everyTextRefused } from "./embedding-outcomes.ts";
import { inGroups } from "./groups.ts";
import { type Attempt, backInQueue } from "./attempt.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";

interface PublishWork {
  readonly input: AttemptInput;
  readonly attempt: Attempt;
  readonly modelNum: number;
}

interface Publisher {
  /** Resolves when the member is published or its error was recorded. */
  publish(member: Member): Promise<void>;
  /** Call it after the last `publish` has resolved. Resolves when the written segments are merged. */
  end(): Promise<void>;
}

/**
 * Publishes members as they come. Small ones share a transaction; a large one has its own, after its entries
 * were written while hidden, so that nobody waits for it. If a shared transaction fails because of one
 * member, each member is tried in its own.
 * @see test/workflows/document-pipeline.stack.test.ts
 */
export function createPublisher(deps: PipelineDeps, work: PublishWork): Publisher {
  const small = inTurns<Member>(async (members) => {
    for (const group of inGroups(members, (member) => member.chunk_count ?? 0)) {
      await beginPublishing();
      await pipelineStage("publish", () =>
        deps.writes(demandOf(work, group), () => publishGroup(deps, work, group)),
      );
    }
    // Nobody waits for the merge, and it never rejects.
    for (const spaceNum of new Set(members.map((member) => member.space_num))) void merge(spaceNum);
  });
  const merge = inTurns<number>(async (spaceNums) => {
    for (const spaceNum of new Set(spaceNums)) await mergeWritten(deps, work.input.organization, spaceNum);
  });
  const large = async (member: Member): Promise<void> => {
    await beginPublishing();
    await pipelineStage("publish", () => publishLarge(deps, work, member)).catch((error: unknown) =>
      noteAll(work.attempt, [member], error),
    );
  };
  const spaceNums = new Set<number>();
  return {
    async publish(member) {
      spaceNums.add(member.space_num);
      await ((member.chunk_count ?? 0) > MAX_PUBLISH_CHUNKS ? large(member) : small(member));
    },
    async end() {
      await Promise.all([...spaceNums].map((spaceNum) => merge(spaceNum)));
    },
  };
}

function demandOf({ input }: PublishWork, members: readonly Member[]): Demand {
  return {
    owner: { organizationId: input.organization.id, userId: null },
    size: members.reduce((sum, member) => sum + (member.chunk_count ?? 0), 0),
  };
}

async function beginPublishing(): Promise<void> {
  await drillPoint("documentPipeline: embedded, nothing published");
}

async function publishGroup(deps: PipelineDeps, work: PublishWork, group: readonly Member[]): Promise<void> {
  try {
    await publishSmall(deps, work, group);
  } catch (error) {
    const mayBeOfOneMember = group.length > 1 && !(error instanceof DomainError && error.passes);
    if (!mayBeOfOneMember) return noteAll(work.attempt, group, error);
    for (const member of group)
      await publishSmall(deps, work, [member]).catch((ownError: unknown) =>
        noteAll(work.attempt, [member], ownError),
      );
  }
}

function noteAll(attempt: Attempt, members: readonly Member[], error: unknown): void {
  const stage =
    error instanceof DomainError && error.code === "rejected_by_provider" ? "embedding" : "publishing";
  for (const member of members) attempt.ended(member, stage, error);
}

async function publishSmall(
  deps: PipelineDeps,
  work: PublishWork,
  members: readonly Member[],
): Promise<void> {
  const { organization, claimId } = work.input;
  const indexed = await inTenant(deps.db, organization, async (sql) => {
    const texts: IndexedChunk[] = [];
    for (const member of members)
      texts.push(...(await analyzedChunks(sql, member.num, 0, MAX_PUBLISH_CHUNKS)));
    return texts;
  });
  const published = await inTenant(deps.db, organization, async (sql) => {
    const runs = await lockForPublish(
      sql,
      work.attempt.fence,
      members.map((member) => member.id),
    );
    if (runs.length === 0) return 0;
    for (const [spaceNum, ofSpace] of bySpace(runs)) {
      const nums = new Set(ofSpace.map((run) => run.run_num));
      await drillPoint("documentPipeline: runs locked, nothing written");
      await writeEntries(
        sql,
        work,
        spaceNum,
        indexed.filter((chunk) => nums.has(chunk.runNum)),
      );
    }
    await drillPoint("documentPipeline: entries written, not committed");
    await assertWhole(sql, runs, work.modelNum);
    await noteModel(sql, runs, work.modelNum);
    await flipPublished(sql, organization.num, claimId, runs);
    return runs.length;
  });
  countPublished(published);
}

function countPublished(documents: number): void {
  pipelineOutcomes.inc({ outcome: "published", code: "none" }, documents);
}

/** Writes the entries of a large run in batches that search does not see yet; they outlive a crash. */
async function publishLarge(deps: PipelineDeps, work: PublishWork, member: Member): Promise<void> {
  const { organization, claimId } = work.input;
  const total = member.chunk_count ?? 0;
  let from = await inTenant(deps.db, organization, async (sql) => {
    await hideRun(sql, {
      organizationNum: organization.num,
      spaceNum: member.space_num,
      runNum: member.num,
      reason: "in_flight",
    });
    await deleteOtherVectors(sql, {
      spaceNum: member.space_num,
      runNum: member.num,
      modelNum: work.modelNum,
    });
    return firstUnwritten(sql, { spaceNum: member.space_num, runNum: member.num, modelNum: work.modelNum });
  });
  while (from < total) {
    work.attempt.signalOf(member).throwIfAborted();
    from = await deps.writes(demandOf(work, [member]), () => writeBatch(deps, work, member, from));
    // Searches also read segments whose entries are hidden, so these are merged as well.
    await mergeWritten(deps, organization, member.space_num);
    if (work.input.isolated) throw backInQueue();
  }
  const published = await inTenant(deps.db, organization, async (sql) => {
    const runs = await lockForPublish(sql, work.attempt.fence, [member.id]);
    if (runs.length === 0) return 0;
    await assertWhole(sql, runs, work.modelNum);
    await noteModel(sql, runs, work.modelNum);
    await flipPublished(sql, organization.num, claimId, runs);
    return runs.length;
  });
  countPublished(published);
}

/** @returns the index of the first chunk of the next batch. */
function writeBatch(deps: PipelineDeps, work: PublishWork, member: Member, from: number): Promise<number> {
  return inTenant(deps.db, work.input.organization, async (sql) => {
    const chunks = await analyzedChunks(sql, member.num, from, MAX_PUBLISH_CHUNKS);
    await writeEntries(sql, work, member.space_num, chunks);
    if (work.input.isolated) await clearSuspicion(sql, work.attempt.fence);
    return from + chunks.length;
  });
}

async function analyzedChunks(
  sql: Sql,
  runNum: number,
  from: number,
  limit: number,
): Promise<IndexedChunk[]> {
  const indexed: IndexedChunk[] = [];
  const endOfSlice = createTimeSlice();
  for (const chunk of await chunkTexts(sql, runNum, from, limit)) {
    await endOfSlice();
    indexed.push({ runNum, chunkIndex: chunk.chunk_index, ...chunkTerms(chunk) });
  }
  return indexed;
}

async function writeEntries(
  sql: Sql,
  work: PublishWork,
  spaceNum: number,
  chunks: readonly IndexedChunk[],
): Promise<void> {
  if (chunks.length === 0) return;
  const { organization } = work.input;
  const runNums = [...new Set(chunks.map((chunk) => chunk.runNum))];
  const range = { from: chunks[0]!.chunkIndex, to: chunks.at(-1)!.chunkIndex };
  await insertEmbeddingsFromCache(sql, {
    organization,
    spaceNum,
    modelNum: work.modelNum,
    runNums,
    ...(runNums.length === 1 ? { chunks: range } : {}),
  });
  const terms = await insertPostings(
    sql,
    { organizationNum: organization.num, spaceNum },
    chunks,
    ANALYZER_VERSION,
  );
  await addTermCounts(sql, terms, ANALYZER_VERSION);
}

/** @throws Error if a run has fewer entries and noted refusals than chunks: something was lost before. */
async function assertWhole(sql: Sql, runs: readonly Publishable[], modelNum: number): Promise<void> {
  for (const [spaceNum, ofSpace] of bySpace(runs)) {
    const entries = await countEntries(sql, {
      spaceNum,
      runNums: ofSpace.map((run) => run.run_num),
      modelNum,
    });
    const short = ofSpace.filter((run) => (entries.get(run.run_num) ?? 0) !== run.chunk_count);
    if (short.length === 0) continue;
    const refused = await readRefused(sql, { spaceNum, runNums: short.map((run) => run.run_num), modelNum });
    for (const run of short) {
      const count = entries.get(run.run_num) ?? 0;
      const without = refused.get(run.run_num)?.count ?? 0;
      if (count + without !== run.chunk_count)
        throw new Error(
          `run ${run.run_id} has ${run.chunk_count} chunks, ${count} search entries and ${without} refusals`,
        );
      if (count === 0) throw everyTextRefused();
    }
    await noteRefused(sql, refused.values());
  }
}

function bySpace(runs: readonly Publishable[]): Map<number, Publishable[]> {
  return Map.groupBy(runs, (run) => run.space_num);
}
