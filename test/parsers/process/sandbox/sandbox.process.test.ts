/** Which layers this machine has, and the reasons for those that it has not. */

import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kernelLayers, type Layer } from "../../../../src/parsers/process/sandbox/layers.ts";
import {
  describeSandbox,
  isWhole,
  prepareSandbox,
  type Sandbox,
} from "../../../../src/parsers/process/sandbox/sandbox.ts";
import { UNLESS_LINUX, UNLESS_ROOT } from "../../../support/run/unless.ts";

const entry = new URL("../../../support/processes/escaping-child.ts", import.meta.url);
const MODULE = new URL("../../../../src/parsers/process/sandbox/sandbox.ts", import.meta.url).href;
const LIMITS = kernelLayers().filter((layer) => layer.name === "limits");
const UNPRIVILEGED = 65_534;
const run = promisify(execFile);

let folder: string;
let all: Sandbox;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sandbox-test-"));
  chmodSync(folder, 0o755);
  all = await prepareSandbox({ entry, folder });
});
afterAll(() => rmSync(folder, { recursive: true }));

test("a layer that this machine refuses is off with the reason, and others are on", async () => {
  const refused: Layer = {
    name: "network",
    tool: "/bin/sh",
    arguments: () => ["-c", "echo no namespaces here >&2; exit 1", "sh"],
  };
  const missing: Layer = { name: "files", tool: undefined, arguments: () => [] };
  const sandbox = await prepareSandbox({ entry, folder, layers: [refused, ...LIMITS, missing] });
  expect(sandbox.on).toEqual(["permissions", "limits"]);
  expect(describeSandbox(sandbox)).toBe(
    "the parser's process: on: permissions, limits; " +
      "off: network (no namespaces here), files (this machine does not have the tool for it)",
  );
  expect(isWhole(sandbox)).toBe(false);
});

test("a layer behind which Node does not start is off", async () => {
  // The shell works behind it.
  const deaf: Layer = {
    name: "network",
    tool: "/bin/sh",
    arguments: () => [
      "-c",
      'case "$*" in *--eval*) echo Node does not start here >&2; exit 1;; esac; exec "$@"',
      "sh",
    ],
  };
  const { on, off } = await prepareSandbox({ entry, folder, layers: [deaf, ...LIMITS] });
  expect({ on, off }).toEqual({
    on: ["permissions", "limits"],
    off: [{ layer: "network", because: "Node does not start here" }],
  });
});

test(
  "code that another user cannot reach leaves the parser with the worker's user, and says so",
  UNLESS_ROOT,
  async () => {
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o700 });
    const { on, off } = await prepareSandbox({ entry, folder: closed });
    expect(on).not.toContain("user");
    expect(off).toEqual([{ layer: "user", because: `${closed} cannot be entered by another user` }]);
  },
);

describe("this machine has all layers that keep documents apart", UNLESS_LINUX, () => {
  test("to this user", () =>
    expect([isWhole(all), describeSandbox(all)]).toEqual([true, expect.stringContaining("on: permissions")]));

  test("to one without privileges", UNLESS_ROOT, async (context) => {
    if (!all.on.includes("user")) context.skip("the code is where other users cannot read it");
    const code = `import("${MODULE}").then(async ({ isWhole, prepareSandbox }) => {
      const found = await prepareSandbox({ entry: new URL("${entry.href}"), folder: "${folder}" });
      console.log(JSON.stringify({ ...found, isWhole: isWhole(found) }));
    })`;
    const { stdout } = await run(process.execPath, ["--eval", code], {
      env: {},
      uid: UNPRIVILEGED,
      gid: UNPRIVILEGED,
    });
    expect(JSON.parse(stdout)).toMatchObject({
      on: expect.arrayContaining(["privileges", "files", "calls"]),
      off: expect.arrayContaining([{ layer: "user", because: "the worker is not root" }]),
      isWhole: true,
    });
  });
});
