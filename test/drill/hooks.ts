/**
 * Is loaded into the processes of the drill before their own code: it listens at the points, or patches a
 * broken build into the source.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { type DrillPoint, onDrillPoint } from "../../src/telemetry/drill-point.ts";
import { BROKEN, type BrokenBuild, DISK } from "./points.ts";

/** The content of the file `armed`: what the drill waits for. */
export interface Armed {
  readonly point: DrillPoint;
  readonly process: "api" | "worker";
  /** The number in the names of the files `reached-N` and `go-N`. */
  readonly round: number;
}

const { DRILL_BROKEN: broken, DRILL_FOLDER: folder = "" } = process.env;
const OWN = /\/src\/(\w+)\/main\.ts$/.exec(process.argv[1] ?? "")?.[1];
const POLL_MS = 20;

/** Holds the first process that reaches the armed point until the drill lets it go on. */
async function hold(point: DrillPoint): Promise<void> {
  let armed: Armed;
  try {
    armed = JSON.parse(readFileSync(join(folder, "armed"), "utf8")) as Armed;
    if (armed.point !== point || armed.process !== OWN) return;
    writeFileSync(join(folder, `reached-${armed.round}`), String(process.pid), { flag: "wx" });
  } catch {
    return;
  }
  while (!existsSync(join(folder, `go-${armed.round}`)))
    await new Promise((resume) => setTimeout(resume, POLL_MS));
}

/** Makes the store's disk appear full for as long as the drill's file is there. */
function refuseWhileFull(): undefined {
  if (!existsSync(join(folder, "disk full"))) return;
  throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
}

onDrillPoint((point) => (point === DISK ? refuseWhileFull() : hold(point)));

function patched(source: string, { patches }: BrokenBuild): string {
  return patches.reduce((text, [from, to]) => replaceOnce(text, from, to), source);
}

function replaceOnce(text: string, from: string, to: string): string {
  const found = text.split(from).length - 1;
  if (found !== 1)
    throw new Error(`what the broken build changes stands ${found} times in the module: ${from}`);
  return text.replace(from, () => to);
}

function breakSource(build: BrokenBuild): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/src/${build.module}`) || loaded.source === undefined || loaded.source === null)
        return loaded;
      const source =
        typeof loaded.source === "string"
          ? loaded.source
          : Buffer.from(loaded.source as Uint8Array).toString("utf8");
      return { ...loaded, source: patched(source, build) };
    },
  });
}

if (broken !== undefined) breakSource(BROKEN[broken]!);
