/** The faults of the crash matrix: what starts while a process is held at a point, and how it ends. */
import type { Client } from "@temporalio/client";
import { claimRuns } from "../../src/db/runs/claim.ts";
import { call } from "../support/clients/client.ts";
import type { Fault as ProviderFault } from "../support/provider/scripted-provider.ts";
import type { Stack } from "../support/stack/stack.ts";
import { ACME, KEYS } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";
import type { Receiver } from "./events/receiver.ts";
import type { DrillObjects } from "./objects.ts";
import type { RepeatsCount } from "./repeats.ts";
import { isWithAnother, listWorkflowsOf } from "./upgrade/looks.ts";

export type FaultName =
  | "kill -9 worker"
  | "kill -9 api"
  | "kill -9 Temporal"
  | "stop Postgres"
  | "object store errors"
  | "disk full"
  | "provider 429"
  | "provider 500"
  | "provider hangs"
  | "provider garbage"
  | "receiver dies"
  | "duplicate delivery"
  | "callers meanwhile";

export interface DrillParts {
  readonly stack: Stack;
  readonly temporal: Client;
  readonly objects: DrillObjects;
  readonly receiver: Receiver;
  /** The folder through which the drill and the processes communicate. @see test/drill/hooks.ts */
  readonly folder: string;
  /** Settings of processes that are restarted. */
  readonly settings: Record<string, string>;
  killPostgres(): Promise<void>;
  restartPostgres(): Promise<void>;
}

/** The process that is held; without one, the fault starts at no particular point. */
export interface Held {
  readonly process: "api" | "worker";
  readonly pid: number;
  /** Lets the process go on, if it still runs. */
  go(): Promise<void>;
}

type Lost = RepeatsCount["lost"];

export interface Fault {
  readonly name: FaultName;
  /**
   * Starts the fault. Calls `lost` at the moment at which a worker loses the work that it holds; a fault that
   * takes away a dependency loses work for as long as it lasts.
   */
  begin(parts: DrillParts, held: Held | null, lost: Lost): Promise<void>;
  end(parts: DrillParts): Promise<void>;
}

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

const provider = (name: FaultName, fault: ProviderFault): Fault => ({
  name,
  async begin({ stack }) {
    stack.provider.failEmbeddings(fault);
    stack.provider.failChat(fault);
  },
  async end({ stack }) {
    stack.provider.clearFaults();
    stack.provider.dropHanging();
  },
});

/**
 * The open polls of a frozen worker take work for another minute, and each piece is lost until Temporal has
 * missed its heartbeats for 10 seconds.
 */
const GIVEN_AGAIN_MS = 180_000;
const CALLERS_MS = 400;
/** Waits no longer for callers: they may themselves wait for the process that is held. */
const ANSWERS_MS = 3_000;

/**
 * Freezes the worker that holds the work until another worker was given it too; then both go on. The frozen
 * worker may still send what it was about to send before it learns that it lost the work, so everything that
 * it asked for and nobody stored may be asked for twice. The requests of the other worker may not.
 */
async function deliverTwice(parts: DrillParts, held: Held, lost: Lost): Promise<void> {
  const { stack, settings, temporal } = parts;
  const stalled = stack.worker;
  const keyOfOther = `sk-${crypto.randomUUID()}`;
  stalled.child.kill("SIGSTOP");
  const pid = stalled.child.pid!;
  const had = await listWorkflowsOf(temporal, pid);
  stack.restartWorker({ ...settings, OPENAI_API_KEY: keyOfOther });
  await Promise.all(
    had.map((id) =>
      until(
        "another worker was given what the frozen one has",
        () => isWithAnother(temporal, id, pid),
        GIVEN_AGAIN_MS,
      ),
    ),
  );
  await held.go();
  stalled.child.kill("SIGCONT");
  await pause(CALLERS_MS);
  await stalled.kill("SIGTERM");
  lost(({ headers }) => headers.authorization !== `Bearer ${keyOfOther}`);
}

/**
 * Makes everything due at once, again and again, so that dispatchers start what already runs and their claims
 * race with the API's.
 */
async function startAgain({ stack }: DrillParts): Promise<void> {
  const { db } = stack.database;
  const organization = (
    await db.owner.query<{ id: string; num: number }>("select id, num from organizations where id = $1", [
      ACME,
    ])
  ).rows[0]!;
  for (let round = 0; round < 10; round += 1) {
    await db.owner.query(
      "update claims set leased_until = now() - interval '1 second' where closed_at is null",
    );
    for (const outbox of ["deletions", "batches", "operations"])
      await db.owner.query(`update ${outbox} set leased_until = null where completed_at is null`);
    await db.owner.query("update webhooks set leased_until = null");
    await claimRuns(db.system, organization, 0);
    await pause(100);
  }
  await db.owner.query(
    "update claims set leased_until = now() - interval '1 second' where closed_at is null",
  );
}

/**
 * Reprocesses and deletes documents that a worker is processing; of each claim it reprocesses at least one.
 */
async function changeDocumentsInProgress({ stack }: DrillParts): Promise<void> {
  const { rows } = await stack.database.db.owner.query<{ document_id: string; position: number }>(
    `select document_id,
       row_number() over (partition by claim_id order by num)::int as position
     from pipeline_runs
     where attempt_id is not null`,
  );
  const calls = rows.map(({ document_id: id, position }) => {
    const [method, path] = position % 2 === 1 ? ["POST", `/data/${id}/reprocess`] : ["DELETE", `/data/${id}`];
    return call(stack.url, KEYS.editor, method!, path!).catch(() => undefined);
  });
  await Promise.race([Promise.all(calls), pause(ANSWERS_MS)]);
}

export const FAULTS: readonly Fault[] = [
  {
    name: "kill -9 worker",
    async begin({ stack }, _held, lost) {
      await stack.worker.kill("SIGKILL");
      lost();
    },
    async end({ stack, settings }) {
      stack.restartWorker(settings);
    },
  },
  {
    name: "kill -9 api",
    begin: ({ stack }) => stack.api.kill("SIGKILL"),
    end: ({ stack, settings }) => stack.restartApi(settings),
  },
  {
    name: "kill -9 Temporal",
    begin: ({ stack }) => stack.killTemporal(),
    end: ({ stack }) => stack.restartTemporal(),
  },
  { name: "stop Postgres", begin: (parts) => parts.killPostgres(), end: (parts) => parts.restartPostgres() },
  {
    name: "object store errors",
    begin: ({ objects }) => objects.takeAway(),
    end: ({ objects }) => objects.giveBack(),
  },
  { name: "disk full", begin: ({ objects }) => objects.fill(), end: ({ objects }) => objects.empty() },
  provider("provider 429", { status: 429, headers: { "retry-after": "1" } }),
  provider("provider 500", { status: 500 }),
  provider("provider hangs", { hang: true }),
  provider("provider garbage", { garbage: true }),
  {
    name: "receiver dies",
    begin: ({ receiver }) => receiver.die(),
    end: ({ receiver }) => receiver.comeBack(),
  },
  {
    name: "duplicate delivery",
    begin: (parts, held, lost) =>
      held?.process === "worker" ? deliverTwice(parts, held, lost) : startAgain(parts),
    end: () => Promise.resolve(),
  },
  { name: "callers meanwhile", begin: changeDocumentsInProgress, end: () => Promise.resolve() },
];
