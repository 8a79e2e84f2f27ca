/** Ends `npm start` in every way before it is up: afterwards nothing of it runs or listens. */
import { test } from "vitest";
import { type Started, WAIT_MS, npmStarts } from "../support/embedded/npm-start.ts";
import { UNLESS_LINUX } from "../support/run/unless.ts";
import { until } from "../support/until.ts";

const { start, running, recorded, startPid, leavesNothing } = npmStarts();

const ENDS: [string, (started: Started) => Promise<unknown>][] = [
  ["npm is killed", async ({ npm: child }) => child.kill("SIGKILL")],
  ["the terminal is closed", async ({ npm: child }) => process.kill(-child.pid!, "SIGHUP")],
  ["the start gets SIGTERM", async () => process.kill(await startPid(), "SIGTERM")],
  ["npm and the start are killed at once", async ({ npm: child }) => process.kill(-child.pid!, "SIGKILL")],
];

test.each(ENDS)("%s in the middle of a start", UNLESS_LINUX, async (_, end) => {
  const started = await start();
  await until(
    "servers run",
    async () => (await recorded()).length >= 2 && (await running()).length > 3,
    WAIT_MS,
  );
  await end(started);
  await leavesNothing(started.port);
});
