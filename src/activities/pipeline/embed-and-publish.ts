/** The second step of the pipeline: embeds what has no embedding yet, in batches, and publishes members. */
import { type ChunkToEmbed, chunksToEmbed, embeddingModelNum } from "../../db/runs/chunks.ts";
import { inTenant } from "../../db/pool.ts";
import { isRefusedWhole } from "../../db/runs/refused-chunks.ts";
import { type Member, clearSuspicion } from "../../db/runs/attempt.ts";
import {
  type AttemptInput,
  type GroupOutcome,
  NOT_EMBEDDED,
  PRIORITY,
} from "../../domain/work/processing.ts";
import { PartlyEmbedded } from "../../models/embedding/caller.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { cacheLookups } from "../../telemetry/instruments.ts";
import { continueTrace } from "../../telemetry/span.ts";
import { pipelineStage } from "../../telemetry/stage.ts";
import { inTurns } from "../../process/concurrency/in-turns.ts";
import { mapAtMost } from "../../process/concurrency/settle-all.ts";
import { type EmbeddedText, distinctTexts, everyTextRefused, keepOutcomes } from "./embedding-outcomes.ts";
import { inGroups } from "./groups.ts";
import { textsToEmbed } from "./chunk-header.ts";
import { type Attempt, type StepInput, attemptStep, backInQueue } from "./attempt.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";
import { createPublisher } from "./publish.ts";

const TEXTS_A_REQUEST = 64;
const CHUNKS_A_QUERY = 1_024;

/** Publishes each member once its own chunks are embedded. Idempotent: what is done stays done. */
export async function embedAndPublish(deps: PipelineDeps, input: StepInput): Promise<GroupOutcome> {
  const outcome = await attemptStep(deps, input, "embed", async (attempt) => {
    const { name, dimensions } = deps.embedding;
    await drillPoint("documentPipeline: embed has its members");
    const modelNum = await inTenant(deps.db, input.organization, (sql) =>
      embeddingModelNum(sql, name, dimensions),
    );
    const publisher = createPublisher(deps, { input, attempt, modelNum });
    const embed = await memberEmbedding(deps, input, attempt, modelNum);
    await Promise.all(
      attempt.members.map(async (member) => (await embed(member)) && publisher.publish(member)),
    );
    await publisher.end();
    await drillPoint("documentPipeline: published, workflow not told");
  });
  if (outcome.active === 0) deps.wakeDispatcher(input.organization);
  return outcome;
}

/** @returns a function that embeds a member: true if all chunks are embedded, else its error is recorded. */
async function memberEmbedding(
  deps: PipelineDeps,
  input: AttemptInput,
  attempt: Attempt,
  modelNum: number,
): Promise<(member: Member) => Promise<boolean>> {
  const keepTexts = (texts: readonly EmbeddedText[]): Promise<void> =>
    deps.writes({ owner: { organizationId: input.organization.id, userId: null }, size: texts.length }, () =>
      inTenant(deps.db, input.organization, async (sql) => {
        await keepOutcomes(sql, input.organization.id, modelNum, texts);
        if (input.isolated) await clearSuspicion(sql, attempt.fence);
      }),
    );
  const keep = inTurns<EmbeddedText[]>(async (batches) => {
    for (const group of inGroups(batches, (batch) => batch.length)) await keepTexts(group.flat());
  });
  const missing = await inTenant(deps.db, input.organization, (sql) =>
    chunksToEmbed(sql, {
      organizationId: input.organization.id,
      modelNum,
      runNums: attempt.members.map((member) => member.num),
      limit: CHUNKS_A_QUERY,
    }),
  );
  const whole = missing.length < CHUNKS_A_QUERY;
  return async (member) => {
    try {
      await deps.disk.assertRoom();
      const first = missing.filter((chunk) => chunk.run_num === member.num);
      const asked = await continueTrace(member.traceparent, () =>
        pipelineStage("embed", () =>
          embedMember(deps, input, {
            member,
            signal: attempt.signalOf(member),
            modelNum,
            first,
            whole,
            keep,
          }),
        ),
      );
      cacheLookups.inc({ cache: "chunk_embedding", result: "miss" }, asked);
      cacheLookups.inc(
        { cache: "chunk_embedding", result: "hit" },
        Math.max(0, (member.chunk_count ?? 0) - asked),
      );
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
  /** The member's chunks to embed that the query for all members found. */
  readonly first: readonly ChunkToEmbed[];
  /** True if that query found all of them. */
  readonly whole: boolean;
  readonly keep: (batch: EmbeddedText[]) => Promise<void>;
}

/** @returns how many texts had no embedding yet. */
async function embedMember(deps: PipelineDeps, input: AttemptInput, work: MemberWork): Promise<number> {
  const { member } = work;
  const model = deps.embedding.forWork({
    priority: member.priority === PRIORITY.batch ? "batch" : "now",
    organizationId: input.organization.id,
    userId: member.created_by,
    size: member.chunk_count ?? 0,
  });
  let left = work.first;
  let whole = work.whole;
  let asked = 0;
  let refused = 0;
  for (;;) {
    const distinct = distinctTexts(left);
    asked += distinct.length;
    const requests = Array.from({ length: Math.ceil(distinct.length / TEXTS_A_REQUEST) }, (_, index) =>
      distinct.slice(index * TEXTS_A_REQUEST, (index + 1) * TEXTS_A_REQUEST),
    );
    // In isolation one after the other, so that each attempt begins with the text that kills the process.
    await mapAtMost(input.isolated ? 1 : 2, requests, async (batch) => {
      work.signal.throwIfAborted();
      const texts = await textsToEmbed(batch, deps.embedding);
      const vectors = await model.embed(texts, "passage", work.signal).catch(async (error: unknown) => {
        // Vectors that were paid for are stored, so that they are not asked for again with the failed text.
        const known = error instanceof PartlyEmbedded ? error.outcomes : [];
        const kept = batch.flatMap((text, index) =>
          known[index] === undefined ? [] : [{ ...text, vector: known[index] }],
        );
        if (kept.length > 0) await work.keep(kept);
        throw error;
      });
      await drillPoint("documentPipeline: provider answered, nothing kept");
      refused += vectors.filter((vector) => vector === null).length;
      await work.keep(batch.map((text, index) => ({ ...text, vector: vectors[index]! })));
      if (input.isolated) throw backInQueue();
    });
    if (whole) break;
    left = await inTenant(deps.db, input.organization, (sql) =>
      chunksToEmbed(sql, {
        organizationId: input.organization.id,
        modelNum: work.modelNum,
        runNums: [member.num],
        limit: CHUNKS_A_QUERY,
      }),
    );
    whole = left.length === 0;
  }
  if (refused > 0) await noteRefusals(deps, input, work, refused);
  return asked;
}

/** @throws DomainError `rejected_by_provider` if no chunk of the document has a vector */
async function noteRefusals(
  deps: PipelineDeps,
  input: AttemptInput,
  { member, modelNum }: MemberWork,
  refused: number,
): Promise<void> {
  deps.log.warn(
    { run_id: member.id, texts: refused, chunks: member.chunk_count, code: NOT_EMBEDDED },
    "the model provider rejected texts of a document",
  );
  if (await inTenant(deps.db, input.organization, (sql) => isRefusedWhole(sql, member.num, modelNum)))
    throw everyTextRefused();
}
