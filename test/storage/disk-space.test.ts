import { type StatsFs, statfsSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { watchDisk } from "../../src/storage/disk-space.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("a file system that hangs is asked once, and again after it has answered", async () => {
  vi.useFakeTimers();
  const questions: PromiseWithResolvers<StatsFs>[] = [];
  const ask = (): Promise<StatsFs> => {
    questions.push(Promise.withResolvers<StatsFs>());
    return questions.at(-1)!.promise;
  };
  const disk = watchDisk({ folders: { data: "/share" }, floorBytes: 0, ask });
  for (let look = 0; look < 5; look += 1) {
    const readings = disk.read();
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await readings).toEqual([]);
  }
  expect(questions).toHaveLength(1);
  questions[0]!.resolve(statfsSync("/"));
  await vi.advanceTimersByTimeAsync(2_500);
  const readings = disk.read();
  questions[1]!.resolve(statfsSync("/"));
  expect(await readings).toMatchObject([{ name: "data" }]);
});
