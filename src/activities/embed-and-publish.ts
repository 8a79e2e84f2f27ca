/** The second step of the pipeline: embed what has no embedding yet, in checkpointed batches, and publish each member whole. */
import { chunksToEmbed, embeddingModelNum, keepEmbeddings } from "../db/chunks.ts";
import { inTenant } from "../db/pool.ts";
import { type Member, clearSuspicion } from "../db/run-attempts.ts";
import { type AttemptInput, type GroupOutcome, PRIORITY } from "../domain/processing.ts";
import { drillPoint } from "../telemetry/drill-point.ts";
import { cacheLookups } from "../telemetry/instruments.ts";
import { below } from "../telemetry/span.ts";
import { pipelineStage } from "../telemetry/stage.ts";
import { eachOf, inTurns } from "./concurrency.ts";
import { type Attempt, type StepInput, attemptStep, backInQueue } from "./members.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";
import { createPublisher } from "./publish.ts";

const TEXTS_A_REQUEST = 64;
const CHUNKS_A_QUERY = 1_024;

interface Embedded {
  readonly hash: Buffer;
  readonly vector: Float32Array;
}

/**
 * Idempotent: embeddings are kept by content as they come, and a member that is published is not taken again. Each member is published as soon as its
 * own chunks are embedded.
 */
export async function embedAndPublish(deps: PipelineDeps, input: StepInput): Promise<GroupOutcome> {
  const outcome = await attemptStep(deps, input, "embed", async (attempt) => {
    const { name, dimensions } = deps.embedding;
    await drillPoint("documentPipeline: embed has its members");
    const modelNum = await inTenant(deps.db, input.organization, (sql) => embeddingModelNum(sql, name, dimensions));
    const publisher = createPublisher(deps, { input, attempt, modelNum });
    const embed = await memberEmbedding(deps, input, attempt, modelNum);
    await Promise.all(attempt.members.map(async (member) => (await embed(member)) && publisher.publish(member)));
    await publisher.end();
    await drillPoint("documentPipeline: published, workflow not told");
  });
  if (outcome.active === 0) deps.wakeDispatcher(input.organization);
  return outcome;
}

/** Embeds a member, and says whether its chunks all have an embedding now; what became of it otherwise is noted. */
async function memberEmbedding(deps: PipelineDeps, input: AttemptInput, attempt: Attempt, modelNum: number): Promise<(member: Member) => Promise<boolean>> {
  const keep = inTurns<Embedded[]>((batches) =>
    inTenant(deps.db, input.organization, async (sql) => {
      await keepEmbeddings(sql, input.organization.id, modelNum, batches.flat());
      if (input.isolated) await clearSuspicion(sql, attempt.fence);
    }),
  );
  const missing = await inTenant(deps.db, input.organization, (sql) =>
    chunksToEmbed(sql, { organizationId: input.organization.id, modelNum, runNums: attempt.members.map((member) => member.num), limit: CHUNKS_A_QUERY }),
  );
  const whole = missing.length < CHUNKS_A_QUERY;
  return async (member) => {
    try {
      const first = missing.filter((chunk) => chunk.run_num === member.num);
      const asked = await below(member.traceparent, () =>
        pipelineStage("embed", () => embedMember(deps, input, { member, signal: attempt.signalOf(member), modelNum, first, whole, keep })),
      );
      cacheLookups.inc({ cache: "chunk_embedding", result: "miss" }, asked);
      cacheLookups.inc({ cache: "chunk_embedding", result: "hit" }, Math.max(0, (member.chunk_count ?? 0) - asked));
      return true;
    } catch (error) {
      attempt.ended(member, "embedding", error);
      return false;
    }
  };
}

interface MemberWork {
  readonly member: Member;
  readonly signal: AbortSignal;
  readonly modelNum: number;
  /** Chunks to embed as far as the group's query saw them, and whether it saw all. */
  readonly first: ReadonlyArray<{ content_hash: Buffer; text: string }>;
  readonly whole: boolean;
  readonly keep: (batch: Embedded[]) => Promise<void>;
}

/** @returns texts that had no embedding yet. */
async function embedMember(deps: PipelineDeps, input: AttemptInput, work: MemberWork): Promise<number> {
  const model = deps.embedding.forPriority(work.member.priority === PRIORITY.batch ? "batch" : "now");
  let left = work.first;
  let whole = work.whole;
  let asked = 0;
  for (;;) {
    const distinct = [...new Map(left.map((chunk) => [chunk.content_hash.toString("hex"), chunk])).values()];
    asked += distinct.length;
    const requests = Array.from({ length: Math.ceil(distinct.length / TEXTS_A_REQUEST) }, (_, index) => distinct.slice(index * TEXTS_A_REQUEST, (index + 1) * TEXTS_A_REQUEST));
    // In isolation one after the other: what ends the process is tried first each time, with nothing kept beside it.
    await eachOf(requests, input.isolated ? 1 : 2, async (batch) => {
      work.signal.throwIfAborted();
      const vectors = await model.embed(
        batch.map((chunk) => chunk.text),
        "passage",
        work.signal,
      );
      await drillPoint("documentPipeline: provider answered, nothing kept");
      await work.keep(batch.map((chunk, index) => ({ hash: chunk.content_hash, vector: vectors[index]! })));
      if (input.isolated) throw backInQueue();
    });
    if (whole) return asked;
    left = await inTenant(deps.db, input.organization, (sql) =>
      chunksToEmbed(sql, { organizationId: input.organization.id, modelNum: work.modelNum, runNums: [work.member.num], limit: CHUNKS_A_QUERY }),
    );
    whole = left.length === 0;
  }
}
