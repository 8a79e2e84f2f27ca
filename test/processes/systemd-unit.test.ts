/**
 * The systemd unit of a single node: systemd accepts it, if its tool is installed, and it starts programs
 * that this project has.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOPELESS_EXIT } from "../../src/process/stop.ts";
import { unless } from "../support/run/unless.ts";

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
  // More than the sum of 45 s for the API, 30 s for the worker and 20 s for the servers.
  expect(Number(setting("TimeoutStopSec"))).toBeGreaterThan(95);
  expect(setting("KillMode")).toBe("mixed");
});

const hasTool = spawnSync("systemd-analyze", ["--version"], { timeout: 10_000 }).status === 0;
const missing = hasTool ? undefined : "systemd-analyze is not installed";

test("systemd finds nothing wrong with it", unless(missing), () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-unit-"));
  try {
    const path = join(folder, "holdfast.service");
    writeFileSync(path, UNIT.replaceAll(`${INSTALLED}/node_modules/.bin/node`, process.execPath));
    const { stderr, stdout } = spawnSync("systemd-analyze", ["verify", "--man=no", path], {
      encoding: "utf8",
      timeout: 20_000,
    });
    // The tool may also report problems of the machine's own units.
    expect(`${stdout}${stderr}`.split("\n").filter((line) => line.includes("holdfast"))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
