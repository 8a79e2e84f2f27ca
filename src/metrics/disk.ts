/** Gauges of the disk: what is free, and the floor under which the process refuses uploads. */
import type { DiskSpace } from "../storage/disk-space.ts";
import type { Metrics } from "../telemetry/metrics.ts";

export function measureDisk(metrics: Metrics, disk: DiskSpace): void {
  metrics.gauge({
    name: "holdfast_disk_free_bytes",
    help: "Free bytes on the file system of a folder used by this process.",
    labels: ["folder"],
    read: async () =>
      (await disk.read()).map(({ name, freeBytes }) => ({ labels: { folder: name }, value: freeBytes })),
  });
  metrics.gauge({
    name: "holdfast_disk_floor_bytes",
    help: "Free bytes below which uploads are refused and documents wait.",
    labels: ["folder"],
    read: async () =>
      (await disk.read()).map(({ name, floorBytes }) => ({ labels: { folder: name }, value: floorBytes })),
  });
}
