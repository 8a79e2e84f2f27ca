/**
 * The steps of the crash matrix: which process is held at which point of the code, under which load, and for
 * which fault.
 */
import { DRILL_POINTS, type DrillPoint } from "../../src/telemetry/drill-point.ts";
import type { FaultName } from "./faults.ts";

/** The load that makes a process reach a point. */
export type Load =
  | "uploads"
  | "stores"
  | "deletions"
  | "batch"
  | "maintenance"
  | "upkeep"
  | "chat"
  | "chat without Temporal"
  | "responses"
  | "operations";

/** No process is held at this point; from here on the disk of the object store is full. */
export const DISK = "directory store: pieces about to be written" satisfies DrillPoint;

/** A point at which a process is held. */
type Step = Exclude<DrillPoint, typeof DISK>;

export interface Point {
  readonly name: Step;
  /** The process that is held. */
  readonly process: "api" | "worker";
  readonly load: Load;
  /** The fault that is tried without `--long`. */
  readonly short: FaultName;
}

/** Every step has an entry, which the compiler checks. */
const STEPS: Readonly<Record<Step, readonly [process: Point["process"], load: Load, short: FaultName]>> = {
  "documentPipeline: object stored, nothing accepted": ["api", "uploads", "kill -9 api"],
  "documentPipeline: accepted, nothing claimed": ["api", "uploads", "kill -9 Temporal"],
  "documentPipeline: claimed, workflow not started": ["api", "uploads", "kill -9 api"],
  "documentPipeline: workflow started, answer not seen": ["api", "uploads", "stop Postgres"],
  "documentPipeline: prepare has its members": ["worker", "uploads", "object store errors"],
  "documentPipeline: prepare has chunks, nothing written": ["worker", "uploads", "stop Postgres"],
  "documentPipeline: embed has its members": ["worker", "uploads", "provider 429"],
  "documentPipeline: provider answered, nothing kept": ["worker", "uploads", "kill -9 worker"],
  "documentPipeline: embedded, nothing published": ["worker", "uploads", "duplicate delivery"],
  "documentPipeline: runs locked, nothing written": ["worker", "uploads", "callers meanwhile"],
  "documentPipeline: entries written, not committed": ["worker", "uploads", "stop Postgres"],
  "documentPipeline: published, workflow not told": ["worker", "uploads", "kill -9 Temporal"],
  "documentPipeline: step done, outcome not recorded": ["worker", "uploads", "stop Postgres"],
  "deleteTarget: accepted, workflow not started": ["api", "deletions", "kill -9 Temporal"],
  "deleteTarget: workflow started, answer not seen": ["api", "deletions", "duplicate delivery"],
  "deleteTarget: object gone, rows there": ["worker", "deletions", "object store errors"],
  "deleteTarget: document gone, step not ended": ["worker", "deletions", "stop Postgres"],
  "deleteTarget: container gone, not committed": ["worker", "deletions", "kill -9 worker"],
  "batchReprocess: accepted, workflow not started": ["api", "batch", "stop Postgres"],
  "batchReprocess: workflow started, answer not seen": ["api", "batch", "provider 500"],
  "batchReprocess: runs released, not committed": ["worker", "batch", "stop Postgres"],
  "batchReprocess: step committed, workflow not told": ["worker", "batch", "kill -9 Temporal"],
  "maintenance: stray runs queued": ["worker", "maintenance", "stop Postgres"],
  "maintenance: hidden entries gone, text there": ["worker", "maintenance", "disk full"],
  "maintenance: text gone, objects there": ["worker", "maintenance", "object store errors"],
  "maintenance: objects gone, not noted": ["worker", "maintenance", "provider garbage"],
  "indexUpkeep: segments to purge found": ["worker", "upkeep", "stop Postgres"],
  "indexUpkeep: segment analyzed, not rewritten": ["worker", "upkeep", "kill -9 Temporal"],
  "indexUpkeep: vectors measured, not noted": ["worker", "upkeep", "kill -9 worker"],
  "operation: accepted, workflow not started": ["worker", "operations", "kill -9 Temporal"],
  "operation: workflow started, answer not seen": ["worker", "operations", "stop Postgres"],
  "operation: keys wrapped anew, not noted": ["worker", "operations", "kill -9 Temporal"],
  "operation: key replaced, not noted": ["worker", "operations", "stop Postgres"],
  "chatTurns: turns noted, workflow not started": ["api", "chat", "kill -9 Temporal"],
  "chatTurns: workflow started, answer not seen": ["api", "chat", "stop Postgres"],
  "chatTurns: turns ended, workflow not told": ["api", "chat", "kill -9 api"],
  "chatTurns: waiting turns taken, workflow not started": ["api", "chat without Temporal", "kill -9 api"],
  "chatTurn: tools asked for, workflow not started": ["api", "chat", "stop Postgres"],
  "chatTurn: tool in hand": ["api", "chat", "provider hangs"],
  "chatTurn: tool answered, workflow not told": ["api", "chat", "kill -9 Temporal"],
  "chatTurn: model answered, workflow not told": ["api", "chat", "provider 429"],
  "backgroundResponse: written, turn not begun": ["api", "responses", "kill -9 api"],
  "backgroundResponse: events written, end not written": ["api", "responses", "kill -9 api"],
  "placeEvents: committed, not placed": ["api", "uploads", "kill -9 api"],
  "webhookDelivery: events placed, endpoint not started": ["api", "uploads", "kill -9 api"],
  "webhookDelivery: workflow started, answer not seen": ["api", "uploads", "kill -9 Temporal"],
  "webhookDelivery: deliveries made, none sent": ["worker", "uploads", "receiver dies"],
  "webhookDelivery: sent, outcome not written": ["worker", "uploads", "kill -9 worker"],
  "webhookDelivery: outcome written, workflow not told": ["worker", "uploads", "stop Postgres"],
  "createFile: object stored, nothing accepted": ["api", "stores", "kill -9 api"],
  "createVectorStore: committed with its files, not answered": ["api", "stores", "kill -9 api"],
  "createFileBatch: committed, not answered": ["api", "stores", "stop Postgres"],
};

const isStep = (point: DrillPoint): point is Step => point !== DISK;

export const POINTS: readonly Point[] = DRILL_POINTS.filter(isStep).map((name) => {
  const [process, load, short] = STEPS[name];
  return { name, process, load, short };
});

/** A build that is broken on purpose, and the cell of the matrix that reveals it. */
export interface BrokenBuild {
  /** The path of the module, in `src/`. */
  readonly module: string;
  readonly patches: ReadonlyArray<readonly [from: string, to: string]>;
  readonly point: Step;
  readonly fault: FaultName;
}

/** A drill that passes on one of these proves nothing. */
export const BROKEN: Readonly<Record<string, BrokenBuild>> = {
  "no fence": {
    module: "db/runs/publish.ts",
    patches: [
      ["and run.claim_id = $1", "and ($1::uuid is not null or $2::uuid is not null)"],
      ["and run.attempt_id = $2", ""],
      ["and run.status = 'embedding'", ""],
      ["and run.chunked", ""],
    ],
    point: "documentPipeline: embedded, nothing published",
    fault: "callers meanwhile",
  },
  "no claim row": {
    module: "db/runs/claim.ts",
    patches: [["where id = any($4::uuid[])", "where id = any($4::uuid[]) and false"]],
    point: "documentPipeline: claimed, workflow not started",
    fault: "duplicate delivery",
  },
  "publish without the lock": {
    module: "db/runs/publish.ts",
    patches: [
      ["for update of document", ""],
      ["for update of run", ""],
    ],
    point: "documentPipeline: runs locked, nothing written",
    fault: "callers meanwhile",
  },
  "no kept embeddings": {
    module: "db/runs/chunks.ts",
    patches: [["where cached.organization_id = $1", "where false and cached.organization_id = $1"]],
    point: "documentPipeline: embedded, nothing published",
    fault: "kill -9 worker",
  },
  "a failed attempt counts as delivered": {
    module: "activities/webhooks/deliver.ts",
    patches: [['result: failure === null ? "delivered" : "failed",', 'result: "delivered",']],
    point: "webhookDelivery: deliveries made, none sent",
    fault: "receiver dies",
  },
};
