import { once } from "node:events";
import { expect, test } from "vitest";
import { HOPELESS_EXIT } from "../../src/process/stop.ts";
import { startProcess } from "../support/stack/processes.ts";

test("the process of suspected documents says why it cannot start, without a stack", async () => {
  const started = startProcess("src/worker/isolated-main.ts", { MASTER_KEY: "not-a-key" });
  const [code] = (await once(started.child, "close")) as [number];
  expect([code, started.output()]).toEqual([
    HOPELESS_EXIT,
    expect.stringMatching(
      /^holdfast worker of suspected documents: The settings are not valid:\n {2}MASTER_KEY/,
    ),
  ]);
  expect(started.output()).not.toMatch(/\n\s+at |not-a-key/);
}, 30_000);
