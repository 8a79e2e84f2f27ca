/** The steps of the crash matrix: named places between two lines of the code where a process is held while a fault begins. */
import type { FaultName } from "./faults.ts";

/** What makes a process come to a point. */
export type Load = "uploads" | "deletions" | "batch" | "maintenance" | "upkeep" | "chat" | "operations";

export interface Point {
  readonly name: string;
  /** The process that is held there. */
  readonly process: "api" | "worker";
  /** Below `src/`. */
  readonly module: string;
  /** A text that stands exactly once in the module; the point lies behind it. */
  readonly after: string;
  readonly load: Load;
  /** The fault of the short form. */
  readonly short: FaultName;
}

type Row = readonly [name: string, process: Point["process"], short: FaultName, module: string, after: string];

const rows = (load: Load, workflow: string, table: readonly Row[]): Point[] =>
  table.map(([name, process, short, module, after]) => ({ name: `${workflow}: ${name}`, process, short, module, after, load }));

export const POINTS: readonly Point[] = [
  ...rows("uploads", "documentPipeline", [
    ["object stored, nothing accepted", "api", "kill -9 api", "api/routes/uploads.ts", "const upload = await receiveFile(deps, principal, request);"],
    [
      "accepted, nothing claimed",
      "api",
      "kill -9 Temporal",
      "dispatch/dispatcher.ts",
      "const dispatch = async (organization: Organization, priority: Priority): Promise<void> => {",
    ],
    ["claimed, workflow not started", "api", "kill -9 api", "dispatch/dispatcher.ts", "const start = async (claim: Claim): Promise<void> => {"],
    ["workflow started, answer not seen", "api", "stop Postgres", "dispatch/dispatcher.ts", "const state = await startOrLetGo({ db, client }, claim);"],
    ["prepare has its members", "worker", "object store errors", "activities/prepare-documents.ts", "const secret = await deps.contentSecret(input.organization.id);"],
    ["prepare has chunks, nothing written", "worker", "stop Postgres", "activities/prepare-documents.ts", "signal.throwIfAborted();"],
    ["embed has its members", "worker", "provider 429", "activities/embed-and-publish.ts", "const { name, dimensions } = deps.embedding;"],
    ["provider answered, nothing kept", "worker", "kill -9 worker", "activities/embed-and-publish.ts", '"passage",\n        work.signal,\n      );'],
    ["embedded, nothing published", "worker", "duplicate delivery", "activities/embed-and-publish.ts", "const embedded = await embedMembers(deps, input, attempt, modelNum);"],
    ["runs locked, nothing written", "worker", "callers meanwhile", "activities/publish.ts", "const nums = new Set(ofSpace.map((run) => run.run_num));"],
    ["entries written, not committed", "worker", "stop Postgres", "activities/publish.ts", "indexed.filter((chunk) => nums.has(chunk.runNum)),\n      );\n    }"],
    ["published, workflow not told", "worker", "kill -9 Temporal", "activities/embed-and-publish.ts", "await publishMembers(deps, { input, attempt, modelNum }, embedded);"],
    ["step done, outcome not recorded", "worker", "stop Postgres", "activities/members.ts", "if (members.length > 0) await watched(deps, input, fence, members, ended, work);"],
  ]),
  ...rows("deletions", "deleteTarget", [
    [
      "accepted, workflow not started",
      "api",
      "kill -9 Temporal",
      "dispatch/dispatcher.ts",
      "await takePendingDeletions(db.system, DELETIONS_A_SWEEP, organizationId);\n    if (taken.length === 0) return;",
    ],
    ["workflow started, answer not seen", "api", "duplicate delivery", "dispatch/dispatcher.ts", "const outcomes = await Promise.allSettled(taken.map(start));"],
    ["object gone, rows there", "worker", "object store errors", "activities/deletion.ts", "await deps.storage.delete(name);\n"],
    ["document gone, step not ended", "worker", "stop Postgres", "activities/deletion.ts", 'await purgeDocument(deps, input, id, deletion.kind !== "document");'],
    ["container gone, not committed", "worker", "kill -9 worker", "activities/deletion.ts", "await deleteContainers(sql, deletion);"],
  ]),
  ...rows("batch", "batchReprocess", [
    [
      "accepted, workflow not started",
      "api",
      "stop Postgres",
      "dispatch/dispatcher.ts",
      "await takePendingBatches(db.system, BATCHES_A_SWEEP, organizationId);\n    if (taken.length === 0) return;",
    ],
    ["workflow started, answer not seen", "api", "provider 500", "dispatch/dispatcher.ts", "const outcomes = await Promise.allSettled(taken.map(start));"],
    ["runs released, not committed", "worker", "stop Postgres", "db/batches.ts", 'const released = status === "running" ? await releaseRuns(sql, batchId) : 0;'],
    [
      "step committed, workflow not told",
      "worker",
      "kill -9 Temporal",
      "activities/batch.ts",
      "const step = await withHeartbeat(() => inTenantContended(deps.db, input.organization, (sql) => stepInDatabase(sql, input.batchId)));",
    ],
  ]),
  ...rows("maintenance", "maintenance", [
    ["stray runs queued", "worker", "stop Postgres", "activities/maintenance.ts", "let counts: MaintenanceCounts = { requeued_runs: await requeueStrayRuns(deps.db.system) };"],
    ["hidden entries gone, text there", "worker", "disk full", "activities/maintenance.ts", 'add("hidden_runs", await purgeRuns(tenant, findHiddenRuns, purgeHiddenRun));'],
    ["text gone, objects there", "worker", "object store errors", "activities/maintenance.ts", 'add("spent_runs", await purgeRuns(tenant, findSpentRuns, purgeSpentRun));'],
    ["objects gone, not noted", "worker", "provider garbage", "activities/maintenance.ts", "await deleteObjects(deps, names);"],
  ]),
  ...rows("upkeep", "indexUpkeep", [
    ["segments to purge found", "worker", "stop Postgres", "activities/index-upkeep.ts", "const purged = await tenant((sql) => findSegmentsToPurge(sql, { spaceNum }));"],
    [
      "segment analyzed, not rewritten",
      "worker",
      "kill -9 Temporal",
      "activities/index-upkeep.ts",
      "const chunks = texts.map(({ run_num, chunk_index, text }) => ({ runNum: run_num, chunkIndex: chunk_index, terms: analyze(text).terms }));",
    ],
  ]),
  ...rows("operations", "operation", [
    ["accepted, workflow not started", "worker", "kill -9 Temporal", "dispatch/dispatcher.ts", "await takePendingOperations(db.system);\n  if (taken.length === 0) return;"],
    ["workflow started, answer not seen", "worker", "stop Postgres", "dispatch/dispatcher.ts", "const outcomes = await Promise.allSettled(taken.map(start));"],
    ["keys wrapped anew, not noted", "worker", "kill -9 Temporal", "activities/operations.ts", 'const rewrapped = (Number(report["organization_keys"]) || 0) + keys.length;'],
    ["key replaced, not noted", "worker", "stop Postgres", "activities/operations.ts", "await replaceOrganizationKey(db, organization.id, masterKey.id, { id, wrapped });"],
  ]),
  ...rows("chat", "chatTurns", [
    ["turns noted, workflow not started", "api", "kill -9 Temporal", "api/turns/books.ts", "const start = async (group: readonly Turn[]): Promise<void> => {"],
    ["workflow started, answer not seen", "api", "stop Postgres", "api/turns/books.ts", "turnIds: group.map((turn) => turn.row.id) });"],
    ["turns ended, workflow not told", "api", "kill -9 api", "activities/chat.ts", "const ends = await Promise.all(turnIds.map((turnId) => turns.adopt(turnId)));"],
  ]),
  ...rows("chat", "chatTurn", [
    ["tools asked for, workflow not started", "api", "stop Postgres", "api/turns/books.ts", "await ledger.noted(turn.row);"],
    ["tool in hand", "api", "provider hangs", "activities/tools.ts", 'if (!found) throw new DomainError("not_found", "The agent is not available any more.");'],
    ["tool answered, workflow not told", "api", "kill -9 Temporal", "activities/tools.ts", "const output = await callTool(deps, { ...found, caller, call }, signal);"],
    ["model answered, workflow not told", "api", "provider 429", "activities/chat.ts", "const step = await turns.step(input.turnId, input.no, input.results);"],
  ]),
];

/** A build that is broken on purpose, and the cell of the matrix that shows it. */
export interface BrokenBuild {
  readonly module: string;
  readonly patches: ReadonlyArray<readonly [from: string, to: string]>;
  readonly point: string;
  readonly fault: FaultName;
}

/** A drill that passes on one of these proves nothing. */
export const BROKEN: Readonly<Record<string, BrokenBuild>> = {
  "no fence": {
    module: "db/publish.ts",
    patches: [["and r.claim_id = $1 and r.attempt_id = $2 and r.status = 'embedding' and r.chunked", "and ($1::uuid is not null or $2::uuid is not null)"]],
    point: "documentPipeline: embedded, nothing published",
    fault: "callers meanwhile",
  },
  "no claim row": {
    module: "db/claims.ts",
    patches: [["update pipeline_runs set claim_id = $1 where id = any($4::uuid[])", "update pipeline_runs set claim_id = $1 where id = any($4::uuid[]) and false"]],
    point: "documentPipeline: claimed, workflow not started",
    fault: "duplicate delivery",
  },
  "publish without the lock": {
    module: "db/publish.ts",
    patches: [
      ["order by d.id for update of d", "order by d.id"],
      ["order by r.num for update of r", "order by r.num"],
    ],
    point: "documentPipeline: runs locked, nothing written",
    fault: "callers meanwhile",
  },
  "no kept embeddings": {
    module: "db/chunks.ts",
    patches: [
      [
        "select from embedding_cache e where e.organization_id = $1 and e.model_num = $2",
        "select from embedding_cache e where false and e.organization_id = $1 and e.model_num = $2",
      ],
    ],
    point: "documentPipeline: embedded, nothing published",
    fault: "kill -9 worker",
  },
};

/** Where the disk of the object store can be made full: behind the line that writes pieces of an object. */
export const DISK: Pick<BrokenBuild, "module" | "patches"> = {
  module: "storage/directory.ts",
  patches: [["await step(writeAll(file, pieces));", "await step((async () => { globalThis.drillDisk(); await writeAll(file, pieces); })());"]],
};
