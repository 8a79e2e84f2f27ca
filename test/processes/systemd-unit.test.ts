/**
 * The unit of a single node: what systemd itself says of it where its tool is there, and that it starts what
 * this project has.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOPELESS_EXIT } from "../../src/process/stop.ts";

const ROOT = join(import.meta.dirname, "../..");
const UNIT = readFileSync(join(ROOT, "deploy/systemd/holdfast.service"), "utf8");
const INSTALLED = "/opt/holdfast";

function setting(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, "m").exec(UNIT)?.[1];
}

test("it starts a file of this project, and does not try again where settings are wrong", () => {
  const [node, main, ...rest] = setting("ExecStart")?.split(" ") ?? [];
  expect(node).toBe(`${INSTALLED}/node_modules/.bin/node`);
  expect(existsSync(main!.replace(INSTALLED, ROOT))).toBe(true);
  expect(rest).toEqual([]);
  expect(setting("RestartPreventExitStatus")).toBe(String(HOPELESS_EXIT));
  // Above the 45 s of the API, 30 s of the worker and 20 s of the servers behind them.
  expect(Number(setting("TimeoutStopSec"))).toBeGreaterThan(95);
  expect(setting("KillMode")).toBe("mixed");
});

const hasTool = spawnSync("systemd-analyze", ["--version"], { timeout: 10_000 }).status === 0;

test.skipIf(!hasTool)("systemd finds nothing wrong with it", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-unit-"));
  try {
    const path = join(folder, "holdfast.service");
    writeFileSync(path, UNIT.replaceAll(`${INSTALLED}/node_modules/.bin/node`, process.execPath));
    const { stderr, stdout } = spawnSync("systemd-analyze", ["verify", "--man=no", path], {
      encoding: "utf8",
      timeout: 20_000,
    });
    // Of units of the machine itself it may have something to say as well.
    expect(`${stdout}${stderr}`.split("\n").filter((line) => line.includes("holdfast"))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
