/** How long deliveries wait between attempts, and when they are given up. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const WAITS_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
const LONGEST_WAIT_MS = 8 * HOUR;
/** The longest wait of an endpoint as a whole is that of its fourth failure. */
const FAILURES_OF_LONGEST_ENDPOINT_WAIT = 4;
/** A wait is longer by up to this share of it, so that endpoints of one receiver come back apart. */
const JITTER = 0.2;

/** How long a delivery is tried, and how long an endpoint may fail before it is paused. */
export const GIVES_UP_AFTER_DAYS = 3;

/**
 * Milliseconds to wait after `failures` failed attempts (from 1): 5 s, growing to 8 h, and up to a fifth
 * more. Never less than the receiver asked for by `Retry-After`, as far as that is no longer than 8 h.
 * @param random from 0 to 1.
 * @example deliveryWaitMs(1, null, 0) // 5000
 * @example deliveryWaitMs(1, 60_000, 0) // 60000
 */
export function deliveryWaitMs(failures: number, retryAfterMs: number | null, random: number): number {
  const wait = WAITS_MS[failures - 1] ?? LONGEST_WAIT_MS;
  const asked = Math.min(retryAfterMs ?? 0, LONGEST_WAIT_MS);
  return Math.round(Math.max(wait * (1 + JITTER * random), asked));
}

/**
 * Like {@link deliveryWaitMs}, for an endpoint as a whole, but at most 10 minutes: what comes meanwhile waits
 * too, although the receiver may be back, or may refuse nothing but what it was sent before.
 */
export function endpointWaitMs(failures: number, retryAfterMs: number | null, random: number): number {
  return deliveryWaitMs(Math.min(failures, FAILURES_OF_LONGEST_ENDPOINT_WAIT), retryAfterMs, random);
}
