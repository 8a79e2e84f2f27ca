/**
 * Compares the cost of a drill point to which nobody listens with that of an empty function that is awaited.
 * Run as `node bench/tracing/drill-points.ts [million calls]`.
 */
import { loadavg } from "node:os";
import { DRILL_POINTS, drillPoint } from "../../src/telemetry/drill-point.ts";
import { machine } from "../report.ts";

const ROUNDS = 9;
const calls = Number(process.argv[2] ?? 5) * 1_000_000;
const [POINT] = DRILL_POINTS;

async function nothing(): Promise<void> {}

/** Each is a function of its own, so that one does not change how another is compiled. */
const WAYS: Record<string, () => Promise<void>> = {
  async "drillPoint(…)"() {
    for (let call = 0; call < calls; call += 1) void drillPoint(POINT);
  },
  async "await drillPoint(…), as in the code"() {
    for (let call = 0; call < calls; call += 1) await drillPoint(POINT);
  },
  async "await undefined"() {
    // oxlint-disable-next-line typescript/await-thenable -- compares an await without a call
    for (let call = 0; call < calls; call += 1) await undefined;
  },
  async "await of an empty async function"() {
    for (let call = 0; call < calls; call += 1) await nothing();
  },
};

/** Nanoseconds of processor time of one call; other work on the machine changes this figure least. */
async function measure(way: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await way();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1_000) / calls;
}

const results = Object.keys(WAYS).map((name) => ({ name, samples: [] as number[] }));
const [load] = loadavg();
// They take turns, so that other work on the machine affects all of them alike.
for (let round = -1; round < ROUNDS; round += 1) {
  for (const { name, samples } of results) {
    const sample = await measure(WAYS[name]!);
    // The first round only compiles.
    if (round >= 0) samples.push(sample);
  }
}

process.stdout.write(
  `${ROUNDS} × ${calls / 1_000_000} million calls each, ${machine()}, ` +
    `load ${load!.toFixed(1)} at the start\n\n`,
);
process.stdout.write("| | ns of processor time a call, median | least | most |\n|---|---|---|---|\n");
for (const { name, samples } of results) {
  const sorted = samples.toSorted((one, other) => one - other);
  const cells = [sorted[Math.floor(sorted.length / 2)], sorted[0], sorted.at(-1)].map((ns) => ns!.toFixed(1));
  process.stdout.write(`| ${name} | ${cells.join(" | ")} |\n`);
}
