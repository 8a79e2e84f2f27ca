/**
 * Follows the log of events from a moment on, as a client does: after its cursor, and again after each fault.
 */
import { call } from "../../support/clients/client.ts";
import { KEYS } from "../../support/tenants/tenants.ts";

export interface Follower {
  /** The ids of all events, in the order in which they came. */
  readonly ids: readonly string[];
  /** Answers that no client should have to expect. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly next_cursor: string;
}

const WAIT_SECONDS = 2;
const AGAIN_MS = 50;

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

/** @param url the address of the API without `/v1` */
export async function follow(url: string): Promise<Follower> {
  const ids: string[] = [];
  const faults: string[] = [];
  let isOpen = true;

  /** Returns nothing if a fault met the request; the next one asks for the same again. */
  const read = async (after: string, wait: number): Promise<Page | undefined> => {
    const query = new URLSearchParams({ after, wait: String(wait), limit: "100" });
    const answer = await call(url, KEYS.owner, "GET", `/events?${query.toString()}`).catch(() => undefined);
    if (answer?.status === 200) return answer.body as Page;
    if (answer !== undefined && answer.status < 500 && answer.status !== 429)
      faults.push(`the log answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return undefined;
  };
  const start = await read("now", 0);
  if (start === undefined) throw new Error(`the log cannot be followed: ${faults.join()}`);
  const following = async (): Promise<void> => {
    let cursor = start.next_cursor;
    while (isOpen) {
      const page = await read(cursor, WAIT_SECONDS);
      if (page === undefined) await pause(AGAIN_MS);
      else {
        ids.push(...page.items.map(({ id }) => id));
        cursor = page.next_cursor;
      }
    }
  };
  const followed = following();
  return {
    ids,
    faults,
    async close() {
      isOpen = false;
      await followed;
    },
  };
}
