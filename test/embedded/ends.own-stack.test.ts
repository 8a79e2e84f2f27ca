/** Kills a start of `npm start`: afterwards nothing of it runs or listens, and the next has the data. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WAIT_MS, isUp, npmStarts } from "../support/embedded/npm-start.ts";
import { UNLESS_LINUX } from "../support/run/unless.ts";
import { runCli } from "../support/stack/processes.ts";
import { until } from "../support/until.ts";

const { start, recorded, startPid, leavesNothing, dataDir } = npmStarts();

test(
  "the start itself is killed: what it began ends in order, and the next start has the data",
  UNLESS_LINUX,
  async () => {
    const first = await start();
    await isUp(first);
    expect((await recorded()).toSorted()).toEqual(["api", "postgres", "temporal", "worker"]);
    process.kill(await startPid(), "SIGKILL");
    await leavesNothing(first.port);
    expect(await readFile(join(dataDir(), "logs/postgres.log"), "utf8")).toContain(
      "database system is shut down",
    );

    const second = await start();
    await isUp(second);
    expect(second.printed()).not.toContain("making the database");
    expect(second.printed()).not.toContain("left by an earlier start");
    // A shell without the PORT of the start is told its address all the same.
    const made = await runCli(
      ["organization", "create", "--name", "Acme", "--admin-email", "ada@acme.example"],
      { DATA_DIR: dataDir(), NODE_ENV: "production" },
    );
    expect(made).toContain(`curl -sS http://127.0.0.1:${second.port}/v1/data/upload`);
    second.npm.kill("SIGTERM");
    expect(await once(second.npm, "exit")).toEqual([0, null]);
    expect(second.printed()).toContain("stopped");
    await leavesNothing(second.port);
  },
);

test("a start with another master key than the database's ends as with wrong settings", async () => {
  const refused = await start({ MASTER_KEY: Buffer.alloc(32, 9).toString("base64") });
  await until("npm has ended", () => refused.npm.exitCode !== null, WAIT_MS);
  expect(refused.printed()).toContain("The master key is not this database's");
  expect(refused.npm.exitCode).toBe(78);
  await leavesNothing(refused.port);
});
