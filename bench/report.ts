/** What every bench prints with: a line, the machine that it ran on, and percentiles. */
import { cpus } from "node:os";

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Processors and version of Node, as the first line of a bench names its conditions. */
export function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}`;
}

/** The nearest rank; `share` is 0 to 1. NaN if there is no value. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
}
