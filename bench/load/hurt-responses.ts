/**
 * What 40 requests at once about a kept response of 16 MiB do to `GET /v1/me` of another tenant, meanwhile
 * and afterwards.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "../../test/support/stack/stack.ts";
import { AGENTS, KEYS } from "../../test/support/tenants/tenants.ts";
import { percentile, say } from "../report.ts";
import { type Watched, watchMe } from "./me-watcher.ts";

/** Nearly the largest body that is taken: four of them make the conversation. */
const TEXT = "word ".repeat(800_000);
const TURNS = 4;
const QUIET_MS = 5_000;
const ROUNDS = 5;
const OF_A_KIND = 8;
/** The most times that p95 meanwhile and afterwards may be of p95 in quiet. */
const MOST_TIMES = 3;

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.editor}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const get = (url: string): Promise<Response> =>
  fetch(url, { headers: { authorization: `Bearer ${KEYS.editor}` } });

/** @returns the id of the last response of the conversation. */
async function makeConversation({ url }: Stack, text: string, turns: number): Promise<string> {
  let previous: string | undefined;
  for (let turn = 0; turn < turns; turn += 1) {
    const answer = await post(`${url}/v1/responses`, {
      model: AGENTS.analyst,
      truncation: "auto",
      input: [
        { role: "user", content: text },
        { role: "user", content: "What does the note say?" },
      ],
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    });
    const { id } = (await answer.json()) as { id?: string };
    if (id === undefined) throw new Error(`the response was not made: ${answer.status}`);
    previous = id;
  }
  return previous!;
}

/** Sends eight of each kind at once. @returns their statuses, when all are answered. */
async function askAtOnce({ url }: Stack, id: string): Promise<number[]> {
  const one = `${url}/v1/responses/${id}`;
  const kinds = [
    () => get(one),
    () => get(`${one}?stream=true`),
    () => get(`${one}/input_items?limit=1`),
    () => post(`${one}/cancel`, {}),
    () =>
      post(`${url}/v1/responses`, {
        model: AGENTS.analyst,
        truncation: "auto",
        input: "And then?",
        previous_response_id: id,
      }),
  ];
  return Promise.all(
    Array.from({ length: OF_A_KIND * kinds.length }, async (_, index) => {
      const answer = await kinds[index % kinds.length]!();
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
}

function countOf(statuses: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(", ");
}

/**
 * @param token lets a person of another organization in.
 * @returns what is wrong; nothing if nobody was held up.
 */
export async function measureKeptResponses(stack: Stack, token: string): Promise<string[]> {
  // The first answers of a process take longer.
  await watchFor(stack, token, QUIET_MS);
  const quiet = await watchFor(stack, token, QUIET_MS);
  say(
    "\n| 40 requests at once, five times | answered in | with | `GET /v1/me` of another tenant: p50 / p95 | " +
      "times p95 in quiet |\n|---|---|---|---|---|",
  );
  say(`| before them | | | ${pairOf(quiet.took)} | 1 |`);
  const short = await watchWhile(stack, token, await makeConversation(stack, "A short one.", 1));
  report("beside those about a short response", short, quiet);
  const long = await watchWhile(stack, token, await makeConversation(stack, TEXT, TURNS));
  report("beside those about a response of 16 MiB", long, quiet);
  const after = await watchFor(stack, token, QUIET_MS);
  report("after them", after, quiet);
  const failures = [quiet, short, long, after].flatMap((one) => [...one.failures]);
  return [
    ...(long.statuses.some((status) => status >= 500) ? [`kept responses: ${countOf(long.statuses)}`] : []),
    ...failures.map(([status, count]) => `kept responses: /v1/me answered ${status} ${count} times`),
    ...tooLong("meanwhile", timesOf(long, quiet)),
    ...tooLong("afterwards", timesOf(after, quiet)),
  ];
}

const tooLong = (when: string, times: number): string[] =>
  times > MOST_TIMES ? [`kept responses: /v1/me ${times.toFixed(1)} times as long ${when}`] : [];

async function watchFor({ url }: Stack, token: string, ms: number): Promise<Watched> {
  const stop = watchMe({ url, token });
  await sleep(ms);
  return stop();
}

async function watchWhile(stack: Stack, token: string, id: string): Promise<Burst> {
  const stop = watchMe({ url: stack.url, token });
  const statuses: number[] = [];
  const started = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) statuses.push(...(await askAtOnce(stack, id)));
  const seconds = (performance.now() - started) / 1_000;
  return { ...(await stop()), statuses, seconds };
}

const timesOf = ({ took }: Watched, quiet: Watched): number =>
  percentile(took, 0.95) / percentile(quiet.took, 0.95);

const pairOf = (took: readonly number[]): string =>
  `${percentile(took, 0.5).toFixed(1)} / ${percentile(took, 0.95).toFixed(1)} ms of ${took.length}`;

interface Burst extends Watched {
  readonly statuses: readonly number[];
  readonly seconds: number;
}

function report(name: string, watched: Watched | Burst, quiet: Watched): void {
  const [seconds, statuses] =
    "statuses" in watched ? [`${watched.seconds.toFixed(1)} s`, countOf(watched.statuses)] : ["", ""];
  say(
    `| ${name} | ${seconds} | ${statuses} | ${pairOf(watched.took)} | ${timesOf(watched, quiet).toFixed(1)} |`,
  );
}
