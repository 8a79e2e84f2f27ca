/**
 * Measures what a tenant that does nothing wrong sees: its own small uploads, searches, chats and /health,
 * all at the same time, until it is stopped.
 */
import { request } from "node:http";
import { call, ended, upload } from "../../test/support/clients/client.ts";

export const MEASURES = ["upload", "search", "chat", "health"] as const;
export type Measure = (typeof MEASURES)[number];

/** Milliseconds of each request, in order. */
export type Seen = Readonly<Record<Measure, number[]>>;

export interface Victim {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
  readonly agentId: string;
}

/** The victim gives up on a request after this; a request that fails counts as this long. */
export const PATIENCE_MS = 120_000;
/** The pause between two requests of a kind, so that the victim itself is no load. */
const PAUSE_MS: Readonly<Record<Measure, number>> = { upload: 50, search: 50, chat: 50, health: 20 };

let uploads = 0;

/** Uploads a note and waits until it is searchable. */
async function uploadOnce({ url, key, spaceId }: Victim): Promise<void> {
  const number = uploads++;
  const { id } = await upload(
    url,
    key,
    spaceId,
    `# Note ${number}\n\n${`What note ${number} says of the harbour. `.repeat(20)}`,
    `note-${number}.md`,
  );
  const { processing_state: state } = await ended(url, key, id, PATIENCE_MS);
  if (state.pipeline_status !== "completed")
    throw new Error(`a note ended as ${state.pipeline_status}: ${state.error_code ?? ""}`);
}

async function searchOnce({ url, key, spaceId }: Victim): Promise<void> {
  const { status } = await call(url, key, "POST", "/data/hybrid-search", {
    query: "what the note says of the harbour",
    space_id: spaceId,
    limit: 5,
  });
  if (status !== 200) throw new Error(`search answered ${status}`);
}

/** Resolves with the first event that has content. */
function chatOnce({ url, key, agentId }: Victim): Promise<void> {
  const body = JSON.stringify({
    model: agentId,
    stream: true,
    messages: [{ role: "user", content: "What does the note say?" }],
  });
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/v1/chat/completions`,
      { method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" } },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`chat answered ${response.statusCode}`));
        response.setEncoding("utf8").on("data", (piece: string) => {
          if (/"content":"[^"]/.test(piece)) resolve();
        });
        response.on("end", () => reject(new Error("the chat ended without a word")));
        response.on("error", reject);
      },
    );
    sent.on("error", reject).end(body);
  });
}

async function healthOnce({ url }: Victim): Promise<void> {
  const response = await fetch(`${url}/health`);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`health answered ${response.status}`);
}

const ONCE: Readonly<Record<Measure, (victim: Victim) => Promise<void>>> = {
  upload: uploadOnce,
  search: searchOnce,
  chat: chatOnce,
  health: healthOnce,
};

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

/** Makes one request. @returns its milliseconds; {@link PATIENCE_MS} if it failed, after `onFailure` */
async function timed(victim: Victim, measure: Measure, onFailure: (what: string) => void): Promise<number> {
  const started = performance.now();
  try {
    await ONCE[measure](victim);
    return performance.now() - started;
  } catch (error) {
    onFailure(`${measure}: ${error instanceof Error ? error.message : String(error)}`);
    return PATIENCE_MS;
  }
}

/** Makes requests of all kinds at once, each kind again and again until `isOver`, and at least once. */
export async function watch(
  victim: Victim,
  measures: readonly Measure[],
  isOver: () => boolean,
  onFailure: (what: string) => void,
): Promise<Seen> {
  const seen: Seen = { upload: [], search: [], chat: [], health: [] };
  await Promise.all(
    measures.map(async (measure) => {
      do {
        seen[measure].push(await timed(victim, measure, onFailure));
        await pause(PAUSE_MS[measure]);
      } while (!isOver());
    }),
  );
  return seen;
}
