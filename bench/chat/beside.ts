/** Runs while chats are measured: uploads, one after the other, and two streams of searches. */
import { randomFillSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { call, upload } from "../../test/support/clients/client.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { percentile } from "../report.ts";

const UPLOAD_BYTES = 20 * 1_048_576;
const SEARCHES_AT_ONCE = 2;
/** The pause between two searches of one stream: some twenty searches a second in all. */
const SEARCH_PAUSE_MS = 100;
const LINE = "Revenue, costs and the number of ships in the harbour were counted again in the week before. ";

/**
 * The pipeline refuses `bytes` at once, so that only the upload is load; it cuts, embeds and indexes `text`
 * as fast as it can.
 */
export const UPLOADED = ["bytes", "text"] as const;
type Uploaded = (typeof UPLOADED)[number];

export interface Beside {
  /** Waits for requests that are under way. @returns what was done, in words */
  stop(): Promise<string>;
}

function contentOf(kind: Uploaded): Uint8Array<ArrayBuffer> {
  return kind === "text"
    ? new Uint8Array(Buffer.from(LINE.repeat(Math.ceil(UPLOAD_BYTES / LINE.length))))
    : randomFillSync(new Uint8Array(UPLOAD_BYTES));
}

/** Milliseconds of each request. */
type Times = number[];

async function timed(times: Times, work: Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work;
  times.push(performance.now() - startedAt);
}

export function runBeside(url: string, kind: Uploaded): Beside {
  const content = contentOf(kind);
  const uploads: Times = [];
  const searches: Times = [];
  let isStopping = false;
  const repeat = async (one: (round: number) => Promise<void>): Promise<void> => {
    for (let round = 0; !isStopping; round += 1) await one(round);
  };
  const uploading = repeat((round) =>
    timed(
      uploads,
      upload(
        url,
        KEYS.owner,
        SPACES.research,
        content,
        `beside-${Date.now()}-${round}.${kind === "text" ? "txt" : "bin"}`,
      ),
    ),
  );
  const search = async (query: string): Promise<void> => {
    const { status } = await call(url, KEYS.owner, "POST", "/data/hybrid-search", {
      query,
      space_id: SPACES.research,
    });
    if (status !== 200) throw new Error(`a search answered ${status}`);
  };
  const searching = Array.from({ length: SEARCHES_AT_ONCE }, (_, lane) =>
    repeat(async (round) => {
      await timed(searches, search(`revenue of ship ${lane} in week ${round}`));
      await sleep(SEARCH_PAUSE_MS);
    }),
  );
  return {
    async stop() {
      isStopping = true;
      await Promise.all([uploading, ...searching]);
      const uploadMs = percentile(uploads, 0.5).toFixed(0);
      const searchMs = percentile(searches, 0.5).toFixed(0);
      return (
        `beside ${uploads.length} uploads of 20 MiB of ${kind} (median ${uploadMs} ms) and ` +
        `${searches.length} searches (median ${searchMs} ms)`
      );
    },
  };
}
