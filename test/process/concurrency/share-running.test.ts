import { expect, it, vi } from "vitest";
import { shareRunning } from "../../../src/process/concurrency/share-running.ts";

it("asks once for those who ask for a key meanwhile, and again for another key and after the end", async () => {
  const share = shareRunning<string>();
  const { promise, resolve } = Promise.withResolvers<string>();
  const ask = vi.fn<() => Promise<string>>(() => promise);
  const asked = [share("a", ask), share("a", ask), share("b", ask)];
  expect(ask).toHaveBeenCalledTimes(2);
  resolve("found");
  expect(await Promise.all(asked)).toEqual(["found", "found", "found"]);
  expect(await share("a", async () => "found later")).toBe("found later");
});

it("gives a failure to all who share it, and keeps it from those who ask later", async () => {
  const share = shareRunning<string>();
  const failing = async (): Promise<string> => {
    throw new Error("away");
  };
  const outcomes = await Promise.allSettled([share("a", failing), share("a", async () => "never asked")]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await share("a", async () => "found")).toBe("found");
});
