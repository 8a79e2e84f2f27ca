/** The crash matrix matches the code: every point occurs once in the code, and no workflow is left out. */
import { randomUUID } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { createDirectoryStore } from "../../src/storage/stores/directory.ts";
import { objectName } from "../../src/storage/object-store.ts";
import { DRILL_POINTS, drillPoint, onDrillPoint } from "../../src/telemetry/drill-point.ts";
import { FAULTS } from "./faults.ts";
import { BROKEN, DISK, POINTS } from "./points.ts";

const SOURCES = join(import.meta.dirname, "../../src");
const MODULE = "telemetry/drill-point.ts";
const POINT = DRILL_POINTS[0];

const read = (module: string): string => readFileSync(join(SOURCES, module), "utf8");
const occurrences = (module: string, text: string): number => read(module).split(text).length - 1;

afterEach(() => onDrillPoint(undefined));

/** Every line of the sources that calls a drill point. */
const calls = globSync("**/*.ts", { cwd: SOURCES })
  .filter((module) => module !== MODULE)
  .flatMap((module) => [...read(module).matchAll(/.*\bdrillPoint\(.*/g)].map(([call]) => call.trim()));

test.each(DRILL_POINTS)("%s: is called once, and awaited", (name) => {
  expect(calls.filter((call) => call.includes(`"${name}"`))).toEqual([`await drillPoint("${name}");`]);
});

test("nothing else is called as a point", () => {
  // A call in another form would hide its name from this test.
  expect(calls).toHaveLength(DRILL_POINTS.length);
});

test("workflows and the domain have no points: what they do is replayed", () => {
  const modules = globSync("{workflows,domain}/**/*.ts", { cwd: SOURCES });
  expect(modules.filter((module) => read(module).includes("drill-point"))).toEqual([]);
});

test("every point but the full disk has its process, load and fault", () => {
  expect([...POINTS.map(({ name }) => name), DISK].toSorted()).toEqual([...DRILL_POINTS].toSorted());
  for (const point of POINTS) expect(point).not.toContain(undefined);
});

test("a point that nobody listens at returns at once, with nothing to wait for", () => {
  expect(drillPoint(POINT)).toBeUndefined();
});

test("a listener holds the caller at its point", async () => {
  const go = Promise.withResolvers<void>();
  const passed: string[] = [];
  onDrillPoint((point) => (point === POINT ? go.promise : undefined));
  const caller = async (): Promise<void> => {
    passed.push("before");
    await drillPoint(POINT);
    passed.push("behind");
  };
  const calling = caller();
  await drillPoint(DISK);
  expect(passed).toEqual(["before"]);
  go.resolve();
  await calling;
  expect(passed).toEqual(["before", "behind"]);
});

test("an object that a full disk refuses is an outage, and nothing of it is kept", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-points-"));
  const store = createDirectoryStore(folder);
  const name = objectName(randomUUID(), randomUUID());
  onDrillPoint((point) => {
    if (point === DISK)
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  });
  await expect(store.put(name, Readable.from([Buffer.from("text")]))).rejects.toMatchObject({
    class: "outage",
  });
  onDrillPoint(undefined);
  await expect(store.size(name)).rejects.toMatchObject({ code: "not_found" });
  await rm(folder, { recursive: true, force: true });
});

test.each(Object.entries(BROKEN))(
  "the build that is broken by %s",
  (_name, { module, patches, point, fault }) => {
    for (const [from] of patches) expect(occurrences(module, from)).toBe(1);
    expect(POINTS.map(({ name }) => name)).toContain(point);
    expect(FAULTS.map(({ name }) => name)).toContain(fault);
  },
);

test("every workflow has points, and the short form has every fault", async () => {
  const workflows = Object.keys(await import("../../src/workflows/index.ts"));
  expect(new Set(POINTS.map(({ name }) => name.slice(0, name.indexOf(":"))))).toEqual(
    new Set([
      ...workflows,
      "placeEvents",
      "backgroundResponse",
      "createFile",
      "createVectorStore",
      "createFileBatch",
    ]),
  );
  expect(new Set(POINTS.map(({ short }) => short))).toEqual(new Set(FAULTS.map(({ name }) => name)));
});
