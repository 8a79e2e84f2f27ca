/** Loaded into a process of the drill before its own code: puts a point, or a broken build, into the source as it is read. */
import { existsSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { BROKEN, POINTS } from "./points.ts";

declare global {
  // oxlint-disable-next-line no-var -- a global can be declared no other way
  var drillPoint: () => Promise<void>;
}

const { DRILL_POINT: pointName, DRILL_BROKEN: broken, DRILL_FOLDER: folder = "", DRILL_ACTION: action = "kill" } = process.env;
const POLL_MS = 20;

/** Does what the drill asked for, the first time that any process comes here; later it does nothing. */
globalThis.drillPoint = async () => {
  try {
    writeFileSync(join(folder, "reached"), String(process.pid), { flag: "wx" });
  } catch {
    return;
  }
  if (action === "kill") process.kill(process.pid, "SIGKILL");
  while (!existsSync(join(folder, "go on"))) await new Promise((resume) => setTimeout(resume, POLL_MS));
};

function patched(module: string, source: string): string {
  let text = source;
  const point = POINTS.find(({ name }) => name === pointName);
  if (point?.module === module) text = replaceOnce(text, point.after, `${point.after}\nawait globalThis.drillPoint();\n`);
  const patch = broken === undefined ? undefined : BROKEN[broken];
  if (patch?.module === module) text = replaceOnce(text, patch.from, patch.to);
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
