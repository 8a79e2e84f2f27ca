import { expect, it, vi } from "vitest";
import { openOnce } from "../../../src/process/concurrency/open-once.ts";

it("opens once for all callers, and again after a failure", async () => {
  const start = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new Error("away"))
    .mockResolvedValue("open");
  const { open, opened } = openOnce(start);
  expect(opened()).toBeUndefined();
  await expect(Promise.all([open(), open()])).rejects.toThrow("away");
  expect(start).toHaveBeenCalledTimes(1);
  expect(opened()).toBeUndefined();
  expect(await Promise.all([open(), open()])).toEqual(["open", "open"]);
  expect(await opened()).toBe("open");
  expect(start).toHaveBeenCalledTimes(2);
});
