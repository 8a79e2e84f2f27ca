/**
 * A provider that is down for an hour, in simulated time: the workflow's own code runs with the real
 * activities while the clock jumps.
 */
import { PAUSES } from "#timings";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createWriteGate } from "../../src/process/concurrency/fair-gate.ts";
import { createChunking } from "../../src/activities/pipeline/chunking.ts";
import { embedAndPublish } from "../../src/activities/pipeline/embed-and-publish.ts";
import type { PipelineDeps } from "../../src/activities/pipeline/pipeline-deps.ts";
import { prepareDocuments } from "../../src/activities/pipeline/prepare-documents.ts";
import { loadConfig, requireReal } from "../../src/config/config.ts";
import { claimRuns } from "../../src/db/runs/claim.ts";
import { createProviderGate } from "../../src/db/instance/provider-gate.ts";
import { openSharedDeps, type SharedDeps } from "../../src/deps.ts";
import type { AttemptInput } from "../../src/domain/work/processing.ts";
import { mergeEmbeddings } from "../../src/models/embedding/merge.ts";
import { behindGate } from "../../src/models/provider/gate.ts";
import { createParserPool } from "../../src/parsers/process/child-process.ts";
import { openTemporaryFolder, type TemporaryFolder } from "../../src/process/temporary-folder.ts";
import { documentPipeline } from "../../src/workflows/document-pipeline.ts";
import { upload } from "../support/clients/client.ts";
import type { Fault } from "../support/provider/scripted-provider.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onOwnStack } from "../support/stack/own-stack.ts";
import { virtualWorkflow } from "../support/workflows/virtual-workflow.ts";

/** An hour with the timings of production; tests have a fifth of them. */
const HOUR_MS = 120 * PAUSES.longestRetry;
const DOCUMENTS = 20;

const { stack, tenants } = onOwnStack({ withoutWorker: true });
const { rows } = documentClient({ stack, tenants });
let shared: SharedDeps;
let deps: PipelineDeps;
let temporary: TemporaryFolder;
const parserPool = createParserPool({ size: 1 });

beforeAll(async () => {
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + passedMs);
  // Keeps the stack's processes from claiming runs; only the test claims.
  await stack.stopTemporal();
  shared = await openSharedDeps(requireReal(loadConfig(stack.env)), "test");
  temporary = await openTemporaryFolder(stack.dataDir, (error) => {
    throw error;
  });
  const gate = createProviderGate(shared.db, "the provider of the hour");
  deps = {
    ...shared,
    log: Object.assign(Object.create(shared.log) as typeof shared.log, {
      warn: (fields: Record<string, unknown>, text: string) => void warnings.push({ ...fields, text }),
    }),
    embedding: mergeEmbeddings(behindGate(shared.embedding, gate)),
    parserPool,
    chunking: createChunking(shared.config.models, shared.embedding),
    writes: createWriteGate(10),
    temporary,
    wakeDispatcher: () => undefined,
    wakeBatchRuns: () => undefined,
    wakeBatches: () => undefined,
    wakeDeletions: () => undefined,
  };
  await uploadAll();
});

afterEach(() => stack.provider.clearFaults());

afterAll(async () => {
  vi.restoreAllMocks();
  await parserPool.close();
  await shared.close();
  await temporary.close();
});

const realNow = performance.now.bind(performance);
let passedMs = 0;
const warnings: Record<string, unknown>[] = [];

/** Lets `ms` pass for the database: past times move further back, and future times come nearer. */
async function age(ms: number): Promise<void> {
  const by = [ms / 1_000];
  await rows(
    `update provider_gates
     set not_before = not_before - make_interval(secs => $1),
       updated_at = updated_at - make_interval(secs => $1)`,
    by,
  );
  await rows(
    `update pipeline_runs
     set started_at = started_at - make_interval(secs => $1),
       waiting_since = waiting_since - make_interval(secs => $1),
       created_at = created_at - make_interval(secs => $1)`,
    by,
  );
  passedMs += ms;
}

const OUTAGES: ReadonlyArray<readonly [what: string, fault: Fault, code: string, most: number]> = [
  // The provider is asked once when a group arrives, and again after the delay that it asked for.
  [
    "429 with Retry-After: 60",
    { status: 429, headers: { "retry-after": "60" } },
    "provider_rate_limited",
    64,
  ],
  // The provider is asked again after at most the longest pause.
  ["503", { status: 503 }, "provider_unavailable", 130],
  ["401, as of an account that is not paid", { status: 401 }, "provider_unavailable", 130],
];

/** Uploads the documents for every outage, and leaves their runs to the test. */
async function uploadAll(): Promise<void> {
  await Promise.all(
    OUTAGES.flatMap(([what]) =>
      Array.from({ length: DOCUMENTS }, (_, index) =>
        upload(
          stack.url,
          tenants.keys.editor,
          tenants.spaces.research,
          `# ${index}\n\nDocument ${index} waits for an hour: ${what}.`,
          `${what.slice(0, 3)}-${index}.md`,
        ),
      ),
    ),
  );
  await stack.api.kill("SIGKILL");
  await rows("update pipeline_runs set claim_id = null, held = true");
  await rows("update claims set closed_at = now()");
}

test.each(OUTAGES)(
  "%s for an hour costs no document, is told in one warning, and the provider is asked a bounded " +
    "number of times",
  async (what, fault, code, most) => {
    warnings.length = 0;
    stack.provider.failEmbeddings(fault);
    const ids = (
      await rows("update pipeline_runs set held = false where file_name like $1 returning document_id", [
        `${what.slice(0, 3)}-%`,
      ])
    ).map((row) => row.document_id);
    const organization = (await rows("select id, num from organizations where id = $1", [tenants.acme]))[0];
    const claims = await claimRuns(stack.database.db.system, organization, 0);
    expect(claims.flatMap((claim) => claim.documentIds)).toHaveLength(DOCUMENTS);

    const asked = stack.provider.counts.embeddings;
    let calls = 0;
    const clock = virtualWorkflow({
      activities: {
        prepareDocuments: (input: AttemptInput) => prepareDocuments(deps, input),
        embedAndPublish: (input: AttemptInput) => embedAndPublish(deps, input),
      },
      async onSleep(ms) {
        await age(ms);
        if (clock.sleptMs() < HOUR_MS) return;
        if (calls === 0) {
          const waits = await rows(
            `select waiting_for,
               waiting_attempts,
               extract(epoch from now() - waiting_since)::float8 as seconds
             from pipeline_runs
             where document_id = any($1)`,
            [ids],
          );
          for (const wait of waits)
            expect(wait).toMatchObject({
              waiting_for: code,
              waiting_attempts: expect.toSatisfy((attempts: number) => attempts > 10),
            });
          for (const wait of waits) expect(wait.seconds).toBeGreaterThan(HOUR_MS / 1_000 - 60);
          calls = -1;
        }
        if (calls === -1) calls = stack.provider.counts.embeddings - asked;
        stack.provider.clearFaults();
      },
    });
    const texts = stack.provider.counts.texts;
    for (const claim of claims)
      expect(await documentPipeline({ organization, claimId: claim.id, isolated: false })).toMatchObject({
        completed: claim.runIds.length,
        failed: 0,
        active: 0,
      });

    expect(clock.sleptMs()).toBeGreaterThanOrEqual(HOUR_MS);
    expect(
      await rows(
        "select status, count(*)::int as count from pipeline_runs where document_id = any($1) group by 1",
        [ids],
      ),
    ).toEqual([{ status: "completed", count: DOCUMENTS }]);
    expect(warnings.filter((warning) => warning["text"] === "documents wait")).toEqual([
      {
        claim_id: claims[0]!.id,
        organization_id: organization!["id"],
        code,
        err: expect.objectContaining({ code }),
        run_ids: expect.toSatisfy((runs: string[]) => runs.length === DOCUMENTS),
        text: "documents wait",
      },
    ]);
    expect(calls).toBeGreaterThan(10);
    expect(calls).toBeLessThanOrEqual(most);
    // Each text was embedded once, by the request that succeeded.
    expect(stack.provider.counts.texts - texts).toBe(DOCUMENTS);
  },
  120_000,
);
