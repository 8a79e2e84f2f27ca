/** What runs beside chats in their bench: one upload after the other, and searches at the same time. */
import { setTimeout as sleep } from "node:timers/promises";
import { call, upload } from "../test/support/client.ts";
import { KEYS, SPACES } from "../test/support/tenants.ts";

const UPLOAD_BYTES = 20 * 1_048_576;
const SEARCHES_AT_ONCE = 2;
/** Between two searches of one caller: some twenty a second in all. */
const SEARCH_PAUSE_MS = 100;
const LINE = "Revenue, costs and the number of ships in the harbour were counted again in the week before. ";

export interface Beside {
  /** Waits for what is under way. @returns how much was done. */
  stop(): Promise<{ uploads: number; searches: number }>;
}

export function runBeside(url: string): Beside {
  // A raw archive of text costs the API what any upload does, and the worker little.
  const content = new Uint8Array(Buffer.from(LINE.repeat(Math.ceil(UPLOAD_BYTES / LINE.length))));
  const done = { uploads: 0, searches: 0 };
  let isStopping = false;
  const repeat = async (one: (round: number) => Promise<void>): Promise<void> => {
    for (let round = 0; !isStopping; round += 1) await one(round);
  };
  const uploading = repeat(async (round) => {
    await upload(url, KEYS.owner, SPACES.research, content, `beside-${Date.now()}-${round}.bin`);
    done.uploads += 1;
  });
  const searching = Array.from({ length: SEARCHES_AT_ONCE }, (_, lane) =>
    repeat(async (round) => {
      const { status } = await call(url, KEYS.owner, "POST", "/data/hybrid-search", { query: `revenue of ship ${lane} in week ${round}`, space_id: SPACES.research });
      if (status !== 200) throw new Error(`a search answered ${status}`);
      done.searches += 1;
      await sleep(SEARCH_PAUSE_MS);
    }),
  );
  return {
    async stop() {
      isStopping = true;
      await Promise.all([uploading, ...searching]);
      return done;
    },
  };
}
