/**
 * Runs one cell of the crash matrix: holds a process at a point, lets a fault start and end, and checks that
 * everything that was accepted holds.
 */
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { until } from "../support/until.ts";
import { findFaults } from "./checks.ts";
import type { EventWatch } from "./events/watch.ts";
import type { DrillParts, Fault, Held } from "./faults.ts";
import type { Armed } from "./hooks.ts";
import { type LoadContext, prepareLoad, runLoad, uploadMixed } from "./load.ts";
import type { Point } from "./points.ts";
import { type Repeats, type RepeatsCount, countRepeats } from "./repeats.ts";

/** The duration of a fault that ends by itself. */
const AWAY_MS = 700;
const REACH_MS = 40_000;
/** A load that was over for so long without its point being reached is repeated. */
const REPEAT_MS = 8_000;
const LOOK_MS = 100;

export interface CellResult {
  readonly point: string;
  readonly fault: string;
  readonly accepted: number;
  /** Seconds from the end of the fault until everything held. */
  readonly seconds: number;
  readonly repeats: Repeats;
  readonly faults: readonly string[];
  /** True if everything held, but only after the bound. */
  readonly isLate: boolean;
}

export interface Drill {
  /** Starts the fault `settleMs` after the process was held, so that other work may have ended by then. */
  cell(point: Point, fault: Fault, settleMs?: number): Promise<CellResult>;
  /** Starts a fault at no particular point, for `awayMs`, while this many documents are processed. */
  random(fault: Fault, how: { documents: number; awayMs: number }): Promise<CellResult>;
  close(): Promise<void>;
}

interface DrillOptions {
  /** The number of documents in a cell. */
  readonly documents: number;
  /** Everything must hold this long after a fault is over. */
  readonly boundMs: number;
  /** What does not hold then is looked at for so much longer, to tell what is late from what is wrong. */
  readonly lateMs: number;
  readonly events: EventWatch;
}

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

/** Opens a drill on a stack whose processes run with hooks.ts and communicate through `folder`. */
export async function openDrill(
  started: Omit<DrillParts, "temporal">,
  { documents, boundMs, lateMs, events }: DrillOptions,
): Promise<Drill> {
  const { stack, folder, objects } = started;
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection });
  const parts: DrillParts = { ...started, temporal };
  const pool: string[] = [];
  let round = 0;

  const newContext = (accepted: Set<string>, count = documents): LoadContext => ({
    stack,
    temporal,
    documents: count,
    pool,
    accepted: (id) => void accepted.add(id),
  });

  /** Returns what is wrong when the time is over, or an empty list as soon as everything holds. */
  const holds = async (accepted: ReadonlySet<string>): Promise<string[]> => {
    const deadline = Date.now() + boundMs + lateMs;
    for (;;) {
      const looked = findFaults({ stack, temporal, objects }, accepted);
      const faults = await looked
        .then(async (found) => (found.length > 0 ? found : events.findFaults()))
        .catch((error: unknown) => [`the look failed: ${String(error)}`]);
      if (faults.length === 0 || Date.now() > deadline) return faults;
      await pause(LOOK_MS);
    }
  };
  const result = async (
    names: { point: string; fault: string },
    accepted: ReadonlySet<string>,
    count: RepeatsCount,
  ): Promise<CellResult> => {
    const over = performance.now();
    const faults = await holds(accepted);
    const seconds = (performance.now() - over) / 1_000;
    const repeats = count.now();
    const tooMany =
      repeats.again > repeats.inFlight
        ? [
            `the provider embedded ${repeats.again} texts again, and the fault allowed for ` +
              `${repeats.inFlight}`,
          ]
        : [];
    const isLate = faults.length === 0 && lateMs > 0 && seconds * 1_000 > boundMs;
    return { ...names, accepted: accepted.size, seconds, repeats, faults: [...faults, ...tooMany], isLate };
  };
  const letHappen = async (
    fault: Fault,
    count: RepeatsCount,
    holding: Held | null,
    awayMs: number,
  ): Promise<void> => {
    await count.beforeFault();
    await fault.begin(parts, holding, (ofLoser) => count.lost(ofLoser));
    await holding?.go();
    await pause(awayMs);
    await fault.end(parts);
    count.lost();
  };
  const arm = async (point: Point): Promise<number> => {
    round += 1;
    const armed: Armed = { point: point.name, process: point.process, round };
    await writeFile(join(folder, "arming"), JSON.stringify(armed));
    await rename(join(folder, "arming"), join(folder, "armed"));
    return round;
  };
  const reachedFile = (armedRound: number): string => join(folder, `reached-${armedRound}`);
  /**
   * Repeats the load until the point is reached. Another process may take a step first, in a sweep: then the
   * one that is to be held has nothing left to do.
   */
  const loadUntilReached = async (context: LoadContext, point: Point, armedRound: number): Promise<void> => {
    const isReached = (): boolean => existsSync(reachedFile(armedRound));
    const deadline = Date.now() + REACH_MS;
    while (!isReached() && Date.now() < deadline) {
      await runLoad(context, point.load).catch(() => undefined);
      await until("the load has its effect", isReached, REPEAT_MS).catch(() => undefined);
    }
  };
  const held = async (point: Point, armedRound: number): Promise<Held> => {
    const reached = reachedFile(armedRound);
    await until(`the point "${point.name}" is reached`, () => existsSync(reached), REACH_MS);
    const go = (): Promise<void> => writeFile(join(folder, `go-${armedRound}`), "");
    return { process: point.process, pid: Number(await readFile(reached, "utf8")), go };
  };

  return {
    async cell(point, fault, settleMs = 0) {
      const names = { point: point.name, fault: fault.name };
      const accepted = new Set<string>();
      const context = newContext(accepted);
      try {
        await prepareLoad(context, point.load);
        const count = await countRepeats(stack);
        const armedRound = await arm(point);
        const load = loadUntilReached(context, point, armedRound);
        const holding = await held(point, armedRound);
        await pause(settleMs);
        await letHappen(fault, count, holding, AWAY_MS);
        await load;
        return await result(names, accepted, count);
      } catch (error) {
        return {
          ...names,
          accepted: accepted.size,
          seconds: 0,
          repeats: { embedded: 0, again: 0, inFlight: 0 },
          faults: [String(error)],
          isLate: false,
        };
      }
    },
    async random(fault, { documents: count, awayMs }) {
      const accepted = new Set<string>();
      const repeats = await countRepeats(stack);
      const waves = Math.ceil(count / 10);
      const load = Array.from({ length: waves }, async (_, wave) => {
        await pause((wave * awayMs) / waves);
        (await uploadMixed(stack, 10)).forEach((id) => accepted.add(id));
      });
      await pause(awayMs / 4);
      await letHappen(fault, repeats, null, awayMs);
      await Promise.all(load);
      return result(
        {
          point: `anywhere, ${count} documents`,
          fault: `${fault.name} for ${(awayMs / 1_000).toFixed(1)} s`,
        },
        accepted,
        repeats,
      );
    },
    close: () => connection.close(),
  };
}
