/**
 * `npm run drill -- --starved`: other programs keep all processors busy while documents come and people chat.
 * Everything is slow, and nothing may read as an outage or as poison.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ended, upload } from "../support/clients/client.ts";
import startServers from "../support/run/global-setup.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { AGENTS, KEYS, SPACES } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";
import { ask } from "./load.ts";

interface StarvedDrill {
  readonly minutes: number;
  say(line: string): void;
}

const BUSY_LOOPS = 4;
const UPLOADS = 200;
const QUIET_UPLOADS = 20;
const CHAT_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 1_000;
/** How long everything may take to end once the machine is quiet. */
const SETTLE_MS = 600_000;
/** The slowest small document may take so many times what one takes on the quiet machine. */
const MOST_TIMES_SLOWER = 60;
const MOST_CHARS = 700;
const MINUTE_MS = 60_000;

/** What documents waited for, and how many were suspected at once. */
interface Seen {
  readonly codes: Set<string>;
  suspected: number;
}

/** @returns whether every promise held. */
export async function drillStarved({ minutes, say }: StarvedDrill): Promise<boolean> {
  const stopServers = await startServers();
  const stack = await startStack({ keepsWorkflows: true });
  try {
    await until("chat answers", async () => (await ask(stack, AGENTS.analyst)).status === 200, MINUTE_MS);
    const [load] = loadavg();
    const quiet = await uploadEvenly(stack, QUIET_UPLOADS, QUIET_UPLOADS * CHAT_EVERY_MS);
    await allEnded(stack, quiet);
    const took = await durations(stack, quiet);
    const quietMs = medianOf(took);
    say(
      `Before, at a load of ${load?.toFixed(1)}: the median of ${QUIET_UPLOADS} documents took ${quietMs} ms, ` +
        `the slowest ${took.at(-1)} ms.`,
    );
    const found = await underLoad(stack, minutes * MINUTE_MS, say);
    return await judge(stack, { ...found, quietMs, say });
  } finally {
    await stack.close();
    await stopServers();
  }
}

async function underLoad(
  stack: Stack,
  ms: number,
  say: StarvedDrill["say"],
): Promise<{ readonly ids: string[]; readonly seen: Seen }> {
  const burners = Array.from({ length: BUSY_LOOPS }, () => burn(ms));
  const over = new AbortController();
  const seen: Seen = { codes: new Set(), suspected: 0 };
  const looking = lookUntil(stack, seen, over.signal);
  try {
    const chatting = chatFor(stack, ms);
    const ids = await uploadEvenly(stack, UPLOADS, ms);
    const chats = await chatting;
    say(
      `At the end of ${ms / MINUTE_MS} minutes beside ${BUSY_LOOPS} busy loops: load ${loadavg()[0]?.toFixed(1)}.`,
    );
    say(`Chat: ${[...chats].map(([status, times]) => `${times} × ${status}`).join(", ")}.`);
    for (const burner of burners) burner.kill("SIGKILL");
    const before = performance.now();
    await allEnded(stack, ids);
    say(`All had ended ${Math.round((performance.now() - before) / 1_000)} s later.`);
    return { ids, seen };
  } finally {
    for (const burner of burners) burner.kill("SIGKILL");
    over.abort();
    await looking;
  }
}

/** A busy loop at ordinary priority, which ends by itself if this process does not end it. */
function burn(ms: number): ChildProcess {
  const loop = `const end = Date.now() + ${ms + SETTLE_MS}; while (Date.now() < end);`;
  return spawn(process.execPath, ["--eval", loop], { stdio: "ignore" });
}

/**
 * Uploads small documents, evenly over `ms`. A refused one is sent again, as a client does.
 * @returns their ids.
 */
async function uploadEvenly(stack: Stack, count: number, ms: number): Promise<string[]> {
  const one = async (index: number): Promise<string> => {
    await sleep((index * ms) / count);
    for (;;) {
      const text = `# Note ${index}\n\nWhat note ${index} says about the matter in hand.`;
      const made = await upload(stack.url, KEYS.editor, SPACES.research, text, `starved-${index}.md`).catch(
        () => undefined,
      );
      if (made !== undefined) return made.id as string;
      await sleep(CHAT_EVERY_MS);
    }
  };
  return Promise.all(Array.from({ length: count }, (_, index) => one(index)));
}

/** Asks once a second, without waiting for the answers. @returns how often each status came. */
async function chatFor(stack: Stack, ms: number): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const end = performance.now() + ms;
  const asked: Promise<void>[] = [];
  while (performance.now() < end) {
    asked.push(
      ask(stack, AGENTS.analyst)
        .then(
          ({ status }) => String(status),
          () => "no answer",
        )
        .then((status) => void counts.set(status, (counts.get(status) ?? 0) + 1)),
    );
    await sleep(CHAT_EVERY_MS);
  }
  await Promise.all(asked);
  return counts;
}

async function lookUntil(stack: Stack, seen: Seen, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await stack.database.db.owner.query<{ code: string | null; suspected: number }>(
      `select waiting_for as code, count(*) filter (where suspected)::int as suspected
       from pipeline_runs
       group by waiting_for`,
    );
    for (const { code } of rows) if (code !== null) seen.codes.add(code);
    seen.suspected = Math.max(
      seen.suspected,
      rows.reduce((sum, row) => sum + row.suspected, 0),
    );
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function allEnded(stack: Stack, ids: readonly string[]): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  for (const id of ids) await ended(stack.url, KEYS.editor, id, Math.max(1, deadline - performance.now()));
}

/** Milliseconds from each upload to its publication. */
async function durations(stack: Stack, ids: readonly string[]): Promise<number[]> {
  const { rows } = await stack.database.db.owner.query<{ ms: number }>(
    `select round(1000 * extract(epoch from completed_at - created_at))::int as ms
     from pipeline_runs
     where document_id = any($1)
       and status = 'completed'`,
    [ids],
  );
  return rows.map(({ ms }) => ms).toSorted((a, b) => a - b);
}

/** The lines of the worker's log that name a cause, each once. */
function causesIn(stack: Stack): string[] {
  const lines = stack.worker.output().split("\n");
  const causes = lines.flatMap((line) => {
    try {
      const { msg, code, err } = JSON.parse(line) as { msg: string; code?: string; err?: object };
      return err === undefined ? [] : [`${msg} (${code ?? ""}): ${JSON.stringify(err).slice(0, MOST_CHARS)}`];
    } catch {
      return [];
    }
  });
  return [...new Set(causes)];
}

function medianOf(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Infinity;
}

interface Judged {
  readonly seen: Seen;
  readonly ids: readonly string[];
  readonly quietMs: number;
  readonly say: StarvedDrill["say"];
}

async function judge(stack: Stack, { ids, seen, quietMs, say }: Judged): Promise<boolean> {
  const took = await durations(stack, ids);
  const { rows } = await stack.database.db.owner.query<{ lost: number }>(
    `select count(*)::int as lost
     from pipeline_runs
     where suspected
        or lost_attempts > 0
        or attempts @> '[{"outcome": "lost"}]'`,
  );
  const slowest = took.at(-1) ?? Infinity;
  const times = slowest / quietMs;
  const promises: readonly (readonly [string, boolean])[] = [
    [`${took.length} of ${ids.length} completed`, took.length === ids.length],
    [
      `${rows[0]!.lost} were suspected, at most ${seen.suspected} at once`,
      rows[0]!.lost + seen.suspected === 0,
    ],
    [
      `documents waited for ${[...seen.codes].join(", ") || "nothing"}`,
      !seen.codes.has("internal") && !seen.codes.has("database_unavailable"),
    ],
    [
      `the median took ${medianOf(took)} ms, the slowest ${slowest} ms: ` +
        `${times.toFixed(1)} times the median before`,
      times <= MOST_TIMES_SLOWER,
    ],
  ];
  if (!promises.every(([, holds]) => holds)) for (const cause of causesIn(stack)) say(cause);
  for (const [what, holds] of promises) say(`${holds ? "holds" : "FAILS"}: ${what}.`);
  return promises.every(([, holds]) => holds);
}
