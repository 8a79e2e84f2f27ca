/**
 * The leases of outbox rows. A process that takes a row leases it before starting its workflow, so that no
 * second process starts it at the same time.
 * @see https://microservices.io/patterns/data/transactional-outbox.html
 */
import { DEADLINES } from "#timings";

/**
 * The lease of a row whose workflow is about to be started. Longer than a start may take; if the process dies
 * between leasing and starting, the start is delayed by this much.
 */
export const START_LEASE = `${DEADLINES.startLease} milliseconds`;
/** The lease of a row whose workflow runs; then a process asks Temporal what became of the workflow. */
export const RUNNING_LEASE = `${DEADLINES.runningLease} milliseconds`;
