/**
 * Measures how long `npm run dev` takes from an edit until the API answers and the worker is ready. Run as
 * `node bench/tracing/dev.ts [edits of each kind]`.
 */
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { startDevCopy } from "../../test/support/servers/dev-copy.ts";
import { machine, percentile } from "../report.ts";

/** The pause between two edits, in which the processes of the next restart load their packages. */
const APART_MS = 4_000;
const TIMES = Number(process.argv[2] ?? 10);
const FILES = {
  "an API file": "src/api/routes/service/health.ts",
  "an activity": "src/activities/batch.ts",
  "a workflow": "src/workflows/maintenance.ts",
};

const dev = await startDevCopy(process.env["HOLDFAST_CACHE"]);

/** Edits a file and waits for the restart. @returns seconds, and the 1-minute load before */
async function restart(path: string, text: string): Promise<{ seconds: number; load: number }> {
  await sleep(APART_MS);
  const from = dev.printed().length;
  const [load] = loadavg();
  const start = performance.now();
  await dev.edit(path, (source) => `${source}\n${text}\n`);
  await dev.says("restarted in", from);
  return { seconds: (performance.now() - start) / 1_000, load: load! };
}

try {
  process.stdout.write(
    `${machine()}, ${TIMES} edits each, ${APART_MS / 1_000} s after the restart before\n\n`,
  );
  process.stdout.write("| edit of | seconds, p50 | most | least | load meanwhile |\n|---|---|---|---|---|\n");
  await restart(FILES["an API file"], "// The first restart compiles what the start did not.");
  for (const [name, path] of Object.entries(FILES)) {
    const restarts = [];
    for (let time = 0; time < TIMES; time += 1)
      restarts.push(await restart(path, `export const edit${time} = ${Math.random()};`));
    const seconds = restarts.map((one) => one.seconds);
    const loads = restarts.map((one) => one.load);
    const cells = [percentile(seconds, 0.5), Math.max(...seconds), Math.min(...seconds)].map((value) =>
      value.toFixed(2),
    );
    process.stdout.write(
      `| ${name} | ${cells.join(" | ")} | ${Math.min(...loads).toFixed(1)} to ` +
        `${Math.max(...loads).toFixed(1)} |\n`,
    );
  }
} finally {
  await dev.close();
}
