/** Tests the progress of commands: a bar on a terminal, and nothing if the output is not a terminal. */
import { afterEach, expect, test, vi } from "vitest";
import { eachShown, startProgress } from "../../src/cli/progress.ts";

const wasTerminal = process.stderr.isTTY;
afterEach(() => {
  process.stderr.isTTY = wasTerminal;
  vi.restoreAllMocks();
});

async function shown(isTerminal: boolean, json: boolean): Promise<string> {
  process.stderr.isTTY = isTerminal;
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const items = await eachShown(
    startProgress("organizations", { json }),
    [1, 2, 3],
    async (item) => item * 2,
  );
  expect(items).toEqual([2, 4, 6]);
  return written.join("");
}

test("a terminal sees a bar with what is done and of how many", async () => {
  const text = await shown(true, false);
  expect(text).toContain("organizations");
  expect(text).toContain("of 3");
});

test("where output is no terminal, or JSON is asked for, nothing is written beside it", async () => {
  expect([await shown(false, false), await shown(true, true)]).toEqual(["", ""]);
});

test("without a total the counts are shown alone", () => {
  process.stderr.isTTY = true;
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const progress = startProgress("deleted", {});
  progress.show({ objects_deleted: 7, organization_id: "x", rows_total: 9 });
  progress.stop();
  expect(write.mock.calls[0]?.[0]).toContain("deleted  objects_deleted 7");
  expect(String(write.mock.calls[0]?.[0])).not.toMatch(/organization_id|rows_total/);
});
