/** The workflow of a claim: takes a group of documents, or a single one, from queued to published. */
import { setCurrentDetails, sleep, upsertSearchAttributes } from "@temporalio/workflow";
import { type GroupOutcome, type PipelineInput, waitMs } from "../domain/work/processing.ts";
import { attempt } from "./attempts.ts";
import { embed, isolated, parse } from "./proxies.ts";

/**
 * Each step asks the database which members of the claim still need it, so none is prepared or published
 * twice, and a member that waits for an outage delays no other.
 * @see test/workflows/document-pipeline.stack.test.ts, test/workflows/replay.test.ts
 */
export async function documentPipeline(input: PipelineInput): Promise<GroupOutcome> {
  const parsing = input.isolated ? isolated : parse;
  const embedding = input.isolated ? isolated : embed;
  for (let count = 0; ; count += 1) {
    let outcome = await attempt((lost) => parsing.prepareDocuments({ ...input, lost, round: count }));
    if (outcome && outcome.ready > 0)
      outcome = await attempt((lost) => embedding.embedAndPublish({ ...input, lost, round: count }));
    if (outcome?.active === 0) return finish(outcome);
    const pauseMs = waitMs(count, outcome?.retryAfterSeconds ?? null);
    setCurrentDetails(
      `${describe(outcome)}; attempt ${count + 2} follows at ${new Date(Date.now() + pauseMs).toISOString()}`,
    );
    if (count === 0) upsertSearchAttributes({ Stage: ["waiting"] });
    await sleep(pauseMs);
  }
}

/** What the Temporal UI shows as the details of the workflow. */
function describe(outcome: GroupOutcome | null): string {
  if (outcome === null) return "waits: the last step could not write down what came of it";
  const ended = `${outcome.completed} completed, ${outcome.failed} failed, ${outcome.gone} gone elsewhere`;
  if (outcome.active === 0) return ended;
  const waits = (outcome.waits ?? []).map(
    ({ code, runs, since }) => `${runs} wait for ${code} since ${since}`,
  );
  return `${ended}, ${waits.length > 0 ? waits.join(", ") : `${outcome.active} wait for an outage to end`}`;
}

function finish(outcome: GroupOutcome): GroupOutcome {
  const name = outcome.failed > 0 ? "failed" : outcome.completed > 0 ? "completed" : "gone";
  setCurrentDetails(describe(outcome));
  upsertSearchAttributes({ Outcome: [name], Stage: ["done"] });
  return outcome;
}
