import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { keepBounded } from "../../../src/embedded/processes/log-files.ts";

test("a log that grows is cut, and its writer goes on without opening it again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-logs-"));
  const path = join(folder, "api.log");
  const file = openSync(path, "a");
  const stop = keepBounded(path, { maxBytes: 10, everyMs: 5 });
  try {
    for (const letter of ["a", "b", "c", "d", "e"]) {
      writeSync(file, `${letter.repeat(20)}\n`);
      await vi.waitFor(
        async () => expect(await readFile(`${path}.1`, "utf8")).toBe(`${letter.repeat(20)}\n`),
        5_000,
      );
      await vi.waitFor(async () => expect(await readFile(path, "utf8")).toBe(""), 5_000);
    }
    writeSync(file, "short\n");
    expect(await readFile(path, "utf8")).toBe("short\n");
    expect((await readdir(folder)).toSorted()).toEqual(["api.log", "api.log.1", "api.log.2", "api.log.3"]);
    expect(await readFile(`${path}.3`, "utf8")).toBe(`${"c".repeat(20)}\n`);
  } finally {
    stop();
    closeSync(file);
    await rm(folder, { recursive: true, force: true });
  }
});
