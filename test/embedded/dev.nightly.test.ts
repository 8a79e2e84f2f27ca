/** `npm run dev`: one start, and edits of a copy of the sources. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type DevCopy, startDevCopy } from "../support/servers/dev-copy.ts";
import { runCli } from "../support/stack/processes.ts";
import { until } from "../support/until.ts";
import { UNLESS_LINUX } from "../support/run/unless.ts";

const ROUTE = "src/api/routes/service/health.ts";
const MISTAKE = "\nexport const = ;\n";

// The worker has the lowest priority on the machine, so its starts take long while other tests run.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let dev: DevCopy;
beforeAll(async () => {
  dev = await startDevCopy(process.env["HOLDFAST_TEST_CACHE_DIR"]);
});
afterAll(() => dev.close());

const status = async (path: string): Promise<number> =>
  (await fetch(`${dev.url}${path}`, { signal: AbortSignal.timeout(2_000) })).status;

test(
  "API and worker have logins of their own, without the superuser's password; commands find their logins",
  UNLESS_LINUX,
  async () => {
    const superuser = (await readFile(join(dev.dataDir, "postgres-password"), "utf8")).trim();
    const pids = await dev.pids();
    for (const name of ["api", "worker"]) {
      const environment = await readFile(`/proc/${pids[name]}/environ`, "utf8");
      expect(environment).toContain("DATABASE_URL=postgres://holdfast_app:");
      expect(environment).toContain("DATABASE_SYSTEM_URL=postgres://holdfast_system:");
      expect(environment.includes("DATABASE_MAINTENANCE_URL=")).toBe(name === "worker");
      expect(environment).not.toContain(superuser);
      expect(await readFile(join(dev.dataDir, "logs", `${name}.log`), "utf8")).not.toContain(
        "stronger than it should be",
      );
    }
    const list = () =>
      runCli(["keys", "list", "--json"], { DATA_DIR: dev.dataDir, REQUIRE_DATABASE_LOGINS: "true" });
    expect(await list()).toBe("[]\n");
  },
);

test("an edit starts API and worker again, with the edited code; the servers stay up", async () => {
  const before = await dev.pids();
  const from = dev.printed().length;
  expect(await status("/health/edited")).toBe(404);
  await dev.edit(ROUTE, (source) => source.replace("GET /health/ready", "GET /health/edited"));
  await dev.says("restarted in", from);
  expect(await status("/health/edited")).toBe(200);
  const { api, worker, ...servers } = await until("all are recorded", async () => {
    const recorded = await dev.pids();
    return (
      ["api", "worker"].every((name) => recorded[name] !== undefined && recorded[name] !== before[name]) &&
      recorded
    );
  });
  expect([api, worker]).not.toContain(undefined);
  expect({ ...before, api, worker }).toEqual({ ...servers, api, worker });
});

test("a syntax error stops the API until it is mended", async () => {
  const from = dev.printed().length;
  await dev.edit(ROUTE, (source) => source + MISTAKE);
  await dev.says("waiting for the next edit", from);
  const told = dev.printed().slice(from);
  expect(told).toContain("The api process did not start");
  expect(told).toMatch(/service\/health\.ts:\d+/);
  expect(told).toContain(MISTAKE.trim());
  await expect(status("/health")).rejects.toThrow("fetch failed");
  const mended = dev.printed().length;
  await dev.edit(ROUTE, (source) => source.replace(MISTAKE, ""));
  await dev.says("restarted in", mended);
  expect(await status("/health")).toBe(200);
  expect(dev.printed().slice(from)).not.toContain("starting it again");
});
