/** Makes the attempts of a batch: in the log's order within a resource, different resources side by side. */
import type { DueDelivery } from "../../db/webhooks/delivery/due.ts";
import type { Outcome } from "../../db/webhooks/delivery/outcomes.ts";

/** Undefined: it was not tried, because the time was over before its turn came. */
export type Send = (delivery: DueDelivery) => Promise<Outcome | undefined>;

interface Attempts {
  readonly send: Send;
  /** No attempt begins after it says so. */
  readonly isOver: () => boolean;
}

/** How many resources begin side by side; each success lets one more join, up to the most. */
const FIRST_AT_ONCE = 4;
const MOST_AT_ONCE = 32;

/**
 * Ends early if the first attempts all fail: the receiver is down then, and what was not tried keeps its
 * place. Therefore one that hangs costs few slots.
 * @returns the outcomes of what was tried.
 */
export async function attemptAll(
  due: readonly DueDelivery[],
  { send, isOver }: Attempts,
): Promise<Outcome[]> {
  const resources = byResource(due);
  const outcomes: Outcome[] = [];
  const running: Array<Promise<void>> = [];
  let delivered = 0;
  let failed = 0;
  const isDown = (): boolean => delivered === 0 && failed >= FIRST_AT_ONCE;

  const work = async (): Promise<void> => {
    for (let next = resources.shift(); next !== undefined; next = resources.shift()) {
      for (const delivery of next) {
        if (isOver() || isDown()) return;
        const outcome = await send(delivery);
        if (outcome === undefined) return;
        outcomes.push(outcome);
        if (outcome.result === "failed") failed += 1;
        if (outcome.result !== "delivered") continue;
        delivered += 1;
        if (running.length < MOST_AT_ONCE && resources.length > 0) running.push(work());
      }
    }
  };

  for (let count = 0; count < FIRST_AT_ONCE; count += 1) running.push(work());
  // The list grows meanwhile.
  for (let index = 0; index < running.length; index += 1) await running[index];
  return outcomes;
}

/** The deliveries of each resource in the log's order; the resource whose turn came first is first. */
function byResource(due: readonly DueDelivery[]): DueDelivery[][] {
  const resources = new Map<string, DueDelivery[]>();
  for (const delivery of due) {
    const name = delivery.resourceId ?? delivery.id;
    const others = resources.get(name);
    if (others === undefined) resources.set(name, [delivery]);
    else others.push(delivery);
  }
  return [...resources.values()].map((one) => one.toSorted((a, b) => a.eventNum - b.eventNum));
}
