/** The crash matrix fits the code: its points lie where they say, and no workflow is left out. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FAULTS } from "./faults.ts";
import { BROKEN, DISK, POINTS } from "./points.ts";

const occurrences = (module: string, text: string): number => readFileSync(join(import.meta.dirname, "../../src", module), "utf8").split(text).length - 1;

test.each(POINTS)("$name", ({ module, after }) => {
  expect(occurrences(module, after)).toBe(1);
});

test.each(Object.entries(BROKEN))("the build that is broken by %s", (_name, { module, patches, point, fault }) => {
  for (const [from] of patches) expect(occurrences(module, from)).toBe(1);
  expect(POINTS.map(({ name }) => name)).toContain(point);
  expect(FAULTS.map(({ name }) => name)).toContain(fault);
});

test("the disk that fills up", () => {
  for (const [from] of DISK.patches) expect(occurrences(DISK.module, from)).toBe(1);
});

test("every workflow has points, and the short form has every fault", async () => {
  const workflows = Object.keys(await import("../../src/workflows/index.ts"));
  expect(new Set(POINTS.map(({ name }) => name.slice(0, name.indexOf(":"))))).toEqual(new Set(workflows));
  expect(new Set(POINTS.map(({ short }) => short))).toEqual(new Set(FAULTS.map(({ name }) => name)));
});
