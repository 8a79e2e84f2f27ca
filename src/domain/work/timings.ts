/**
 * How long the service waits before it takes a process for dead, and how long it rests between two looks or
 * two tries. All in milliseconds.
 *
 * Imported as `#timings`, because tests do not wait as long: with Node's condition `quick-timings` that name
 * is `test/support/run/quick-timings.ts`, which has shorter ones. The drills run with these.
 */

/** What a living process must do in time. Much shorter ones would be missed on a busy machine. */
export const DEADLINES = {
  /** Temporal takes the attempt of an activity for lost after this long without a heartbeat. */
  heartbeat: 10_000,
  /** A build of a large search index leaves little time for heartbeats. */
  indexHeartbeat: 20_000,
  /** A person waits for the tool's result. */
  toolHeartbeat: 5_000,
  /** An attempt that was lost began at most this long ago: a heartbeat's deadline and a queue. */
  lostAttempt: 30_000,
  /** The process of suspected documents ends after this long without a pulse; another attempt began then. */
  isolationPulse: 15_000,
  /** The lease of an outbox row whose workflow is about to be started. */
  startLease: 10_000,
  /** The lease of an outbox row whose workflow runs, and of a round of webhook deliveries. */
  runningLease: 60_000,
  /** A request that died keeps its Idempotency-Key this long. */
  requestLease: 15_000,
  /** An API process that has not renewed its lease for this long is dead: others end its open turns. */
  processLease: 3_000,
  /** The lease of turns whose adopting workflow is being started: longer than the start and its activity. */
  adoptionLease: 15_000,
  /** A process that has not renewed its row for this long is shown as dead: three renewals and a little. */
  processAlive: 35_000,
  /** Temporal's sticky queue: a workflow task that its worker has not begun goes to any worker. */
  stickyQueue: 5_000,
} as const;

/** Rests between two heartbeats, renewals, looks and tries. */
export const PAUSES = {
  /** Between two heartbeats of an activity; also how often the SDK sends them on at most. */
  heartbeat: 1_000,
  /** Between heartbeats of a group of turns, of which hundreds are open: each is a write in Temporal. */
  adoptionHeartbeat: 3_000,
  isolationPulse: 1_000,
  requestLease: 4_000,
  processLease: 1_000,
  processRenewal: 10_000,
  /** Between two rounds over rows that wait: outboxes, expired leases, dead processes, turns to adopt. */
  sweep: 1_000,
  /** Between the first two tries of an activity or of a document's step; doubles up to `longestRetry`. */
  retry: 1_000,
  longestRetry: 30_000,
  /** Between two trials of a model provider that failed, over all processes. */
  providerTrial: 1_000,
  /** Between steps of a batch; doubles while nothing happens, up to `longestBatchStep`. */
  batchStep: 500,
  longestBatchStep: 2_000,
} as const;
