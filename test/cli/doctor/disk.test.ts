import { expect, test } from "vitest";
import { judgeDisks } from "../../../src/cli/doctor/host.ts";

const GIB = 2 ** 30;
const FOLDERS = { data: "/data", objects: "/data/objects" };
const reading = (name: keyof typeof FOLDERS, free: number, floor = 3) => ({
  name,
  freeBytes: free * GIB,
  floorBytes: floor * GIB,
});

test("the disk with the least room over its floor decides, of those of data and objects", () => {
  expect(judgeDisks(FOLDERS, [reading("data", 20), reading("objects", 30)])).toMatchObject({
    state: "ok",
    seen: expect.stringContaining("20.0 GiB free under /data;"),
  });
  expect(judgeDisks(FOLDERS, [reading("data", 20), reading("objects", 8)])).toMatchObject({
    state: "warn",
    seen: expect.stringContaining("8.0 GiB free under /data/objects;"),
  });
  expect(judgeDisks(FOLDERS, [reading("data", 1, 0.2), reading("objects", 2)])).toMatchObject({
    state: "fail",
    seen: expect.stringContaining("under /data/objects;"),
  });
});

test("a disk that does not answer is a fault, whatever the other says", () => {
  expect(judgeDisks(FOLDERS, [reading("data", 20)])).toMatchObject({
    state: "fail",
    seen: "the file system of /data/objects does not answer",
  });
});
