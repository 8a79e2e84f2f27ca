/**
 * Documents that kill the worker that handles them, on the real stack: they end with a reason, and other
 * documents do not suffer.
 */
import { once } from "node:events";
import { Client, Connection } from "@temporalio/client";
import { afterEach, expect, test } from "vitest";
import { ended, upload } from "../support/clients/client.ts";
import { POISON, WITH_POISON } from "../support/processes/poison-hook.ts";
import { documentClient } from "../support/clients/document-client.ts";
import type { TestProcess } from "../support/stack/processes.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onKillableStack({ withoutWorker: true });
const { rows } = documentClient({ stack, tenants });
/** Its embedding is never answered, so that its worker has it in hand whenever that is killed. */
const INNOCENT = "It waits for its embedding while others kill the worker.";

afterEach(() => stack.worker.kill("SIGKILL"));

const put = async (content: string, name: string): Promise<string> =>
  (await upload(stack.url, tenants.keys.editor, tenants.spaces.research, content, name)).id;
const stateOf = async (id: string) =>
  (await ended(stack.url, tenants.keys.editor, id, 120_000)).processing_state;

/** Returns the types of failures and time-outs of the activities in the run's own workflow. */
async function failuresInIsolation(runId: string): Promise<unknown[]> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const { workflow } = new Client({ connection });
  try {
    const found: unknown[] = [];
    for await (const { workflowId } of workflow.list({
      query: `WorkflowId STARTS_WITH 'document/${tenants.acme}/${runId}/'`,
    })) {
      const { events } = await workflow.getHandle(workflowId).fetchHistory();
      const failures = (events ?? []).flatMap(
        (event) =>
          (event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes)?.failure ??
          [],
      );
      found.push(
        ...failures.map(
          ({ applicationFailureInfo, timeoutFailureInfo }) =>
            applicationFailureInfo?.type ?? timeoutFailureInfo?.timeoutType,
        ),
      );
    }
    return found;
  } finally {
    await connection.close();
  }
}

interface Lives {
  /** How many workers were killed. */
  deaths(): number;
  /**
   * How many losses were blamed on a machine without processor time, after which a document is tried again.
   */
  excused(): number;
}

/**
 * Runs `work` with a worker that kills itself when it meets poison, and starts another one each time, as an
 * orchestrator does. How long a worker lives is bounded by the test alone: on a busy machine the last one may
 * need minutes.
 */
async function supervised(work: (lives: Lives) => Promise<void>): Promise<void> {
  let deaths = 0;
  const workers: TestProcess[] = [];
  const excused = (): number =>
    workers.reduce((sum, one) => sum + one.output().split("lost for lack of CPU time").length - 1, 0);
  const over = new AbortController();
  const supervision = (async () => {
    while (!over.signal.aborted) {
      stack.restartWorker(WITH_POISON);
      workers.push(stack.worker);
      const { child } = stack.worker;
      try {
        await once(child, "exit", { signal: over.signal });
      } catch (error) {
        if (!over.signal.aborted) throw error;
      }
      if (child.exitCode !== null) throw new Error(`the worker ended by itself:\n${stack.worker.output()}`);
      if (child.signalCode === "SIGKILL") deaths += 1;
    }
  })();
  try {
    await Promise.race([work({ deaths: () => deaths, excused }), supervision]);
  } finally {
    over.abort();
    await supervision;
  }
}

test("a document that kills its worker ends worker_crashed in isolation, and others complete", async () => {
  stack.provider.poisonTexts((text) => (text.includes(INNOCENT) ? { hang: true } : undefined));
  const [{ before }] = await rows("select coalesce(max(num), 0) as before from pipeline_runs");
  const lost = () =>
    rows(
      `select id, document_id, lost_attempts
       from pipeline_runs
       where lost_attempts > 0 and num > ${before}
       order by num`,
    );
  const innocent = await put(`# Innocent\n\n${INNOCENT}`, "innocent.md");
  const poison: string[] = [];
  const neighbours: string[] = [];
  const seen = new Set<string>();
  const inANewAttempt = () =>
    until(
      "another attempt has claimed it",
      async () => {
        const [run] = await rows(
          `select attempt_id, suspected
           from pipeline_runs
           where document_id = '${innocent}' and status = 'embedding'`,
        );
        if (!run?.attempt_id || seen.has(run.attempt_id) || run.suspected !== seen.size > 0) return false;
        seen.add(run.attempt_id);
        return true;
      },
      240_000,
    );
  await supervised(async ({ deaths, excused }) => {
    for (const round of [1, 2]) {
      await inANewAttempt();
      neighbours.push(await put("# As any other\n\nIt came just before.", `before-${round}.md`));
      poison.push(await put(`# Poison ${round}\n\n${POISON}`, `poison-${round}.md`));
      await until("the worker was killed", () => deaths() >= round, 60_000);
    }
    await inANewAttempt();
    expect(
      await rows(
        `select run.lost_attempts, cardinality(claim.run_ids) as members
         from pipeline_runs run
         join claims claim on claim.id = run.claim_id
         where run.document_id = '${innocent}'`,
      ),
    ).toEqual([{ lost_attempts: 0, members: 1 }]);
    stack.provider.poisonTexts();
    stack.provider.dropHanging();
    for (const id of [innocent, ...neighbours])
      expect(await stateOf(id)).toMatchObject({ pipeline_status: "completed" });
    for (const id of poison)
      expect(await stateOf(id)).toMatchObject({
        pipeline_status: "failed",
        error: { code: "worker_crashed", stage: "parsing" },
      });
    const ofPoison = await lost();
    expect(ofPoison).toMatchObject(poison.map((id) => ({ document_id: id, lost_attempts: 3 })));
    expect(deaths()).toBeGreaterThanOrEqual(2);
    expect(deaths()).toBeLessThanOrEqual(2 + excused());
    // The failure was reported by the process that saw the other one die, before missed heartbeats would have
    // shown it.
    for (const { id } of ofPoison)
      expect(await failuresInIsolation(id)).toEqual(["process_lost", "process_lost", "process_lost"]);
  });
}, 600_000);
