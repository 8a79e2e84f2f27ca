/** Loaded into the processes of the drill before their own code: puts the points, or a broken build, into the source as it is read. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { BROKEN, DISK, POINTS } from "./points.ts";

declare global {
  // oxlint-disable-next-line no-var -- a global can be declared no other way
  var drillPoint: (name: string) => Promise<void>;
  // oxlint-disable-next-line no-var -- as above
  var drillDisk: () => void;
}

/** What the drill waits for, in the file `armed`. */
export interface Armed {
  readonly point: string;
  readonly process: "api" | "worker";
  /** Names the files `reached-N` and `go-N`. */
  readonly round: number;
}

const { DRILL_BROKEN: broken, DRILL_FOLDER: folder = "" } = process.env;
const OWN = /\/src\/(\w+)\/main\.ts$/.exec(process.argv[1] ?? "")?.[1];
const POLL_MS = 20;

/** Holds the first process that comes here after the drill has armed the point, until the drill lets it go on. */
globalThis.drillPoint = async (name) => {
  let armed: Armed;
  try {
    armed = JSON.parse(readFileSync(join(folder, "armed"), "utf8")) as Armed;
    if (armed.point !== name || armed.process !== OWN) return;
    writeFileSync(join(folder, `reached-${armed.round}`), String(process.pid), { flag: "wx" });
  } catch {
    return;
  }
  while (!existsSync(join(folder, `go-${armed.round}`))) await new Promise((resume) => setTimeout(resume, POLL_MS));
};

/** The store's disk is full for as long as the drill says so. */
globalThis.drillDisk = () => {
  if (existsSync(join(folder, "disk full"))) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
};

function patched(module: string, source: string): string {
  let text = source;
  for (const { name, after } of POINTS.filter((point) => point.module === module))
    text = replaceOnce(text, after, `${after}\nawait globalThis.drillPoint(${JSON.stringify(name)});\n`);
  for (const build of broken === undefined ? [DISK] : [DISK, BROKEN[broken]!]) {
    if (build.module === module) for (const [from, to] of build.patches) text = replaceOnce(text, from, to);
  }
  return text;
}

function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`the drill's anchor stands ${text.split(from).length - 1} times in the module: ${from}`);
  return text.replace(from, () => to);
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const module = /\/src\/(.+\.ts)$/.exec(url)?.[1];
    if (module === undefined || loaded.source === undefined || loaded.source === null) return loaded;
    const source = typeof loaded.source === "string" ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString("utf8");
    return { ...loaded, source: patched(module, source) };
  },
});
