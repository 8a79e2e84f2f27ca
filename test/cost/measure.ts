/**
 * Measures growth: runs a subject on a shape at n, 2n and 4n in a thread of its own, and reports what grew
 * faster than the input.
 */
import { Worker } from "node:worker_threads";
import type { FamilyName } from "./families.ts";
import type { Extent } from "./subjects/subject.ts";
import type { Listed, Ran, Run } from "./measure-thread.ts";

/**
 * A doubled input may take 2.6 times as long, which allows n log n and a garbage collection, but not n to the
 * power of 1.4.
 */
export const MOST_GROWTH = 2.6;

export interface Sizes {
  readonly extent: Extent;
  /**
   * Input lengths that are tried in turn until one costs `telling` milliseconds; if none does, the subject
   * passes. One between the first and the last is left out if linear growth would not make it cost as much.
   */
  readonly lengths: readonly number[];
  /** Milliseconds of processor time from which growth can be measured. */
  readonly telling: number;
  /** How often a growth that is too large is measured again; the minimum for each size counts. */
  readonly retries: number;
  /** Milliseconds after which a run counts as hanging; generous, for a busy machine. */
  readonly deadlineMs: number;
}

/** The nightly run tries eight times the length, and more shapes. */
export const IN_TESTS: Sizes = {
  extent: "some",
  lengths: [4_096, 16_384],
  telling: 50,
  retries: 3,
  deadlineMs: 30_000,
};

export interface Measured {
  readonly subject: string;
  readonly shape: string;
  /** The longest input that was run, and its costs. */
  readonly longest: Ran | undefined;
  /** The growth for a doubled input; undefined if no size cost enough to measure it. */
  readonly growth: number | undefined;
  readonly faults: readonly string[];
}

const HEAP_MB = 1_500;

/** What a subject costs on a length from which its growth can be measured. */
interface Telling {
  readonly length: number;
  readonly cpuMs: number;
}

class Hang extends Error {}

/** Measures in a thread, which is replaced if it hangs or runs out of memory. */
export class Measurer {
  readonly #family: FamilyName;
  readonly #sizes: Sizes;
  #thread: Worker | undefined;

  constructor(family: FamilyName, sizes: Sizes) {
    this.#family = family;
    this.#sizes = sizes;
  }

  async list(): Promise<Listed["subjects"]> {
    return (await this.#start()).subjects;
  }

  async measure(
    { name: subject, maxLength }: Pick<Listed["subjects"][number], "name" | "maxLength">,
    shape: string,
  ): Promise<Measured> {
    let longest: Ran | undefined;
    const faults = new Set<string>();
    const run = async (length: number): Promise<Ran> => {
      const ran = await this.#run({ subject, shape, length });
      if (longest === undefined || ran.length >= longest.length) longest = ran;
      for (const fault of ran.faults) faults.add(`${fault} (of ${ran.length} characters)`);
      if (ran.end.startsWith("uncoded"))
        faults.add(`ends without a code: ${ran.end.slice("uncoded: ".length)}`);
      return ran;
    };
    let growth: number | undefined;
    try {
      const first = await this.#telling(run);
      if (first !== undefined) growth = await this.#growth(run, first, maxLength);
      if (growth !== undefined && growth > MOST_GROWTH)
        faults.add(`grows ${growth.toFixed(1)} times per doubling from ${first!.length} characters on`);
    } catch (error) {
      if (!(error instanceof Hang)) throw error;
      faults.add(error.message);
    }
    return { subject, shape, longest, growth, faults: [...faults] };
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  /**
   * Finds the least length that costs enough, by halving as long as that suffices, and what it costs;
   * undefined if even the longest does not.
   */
  async #telling(run: (length: number) => Promise<Ran>): Promise<Telling | undefined> {
    const { lengths, telling } = this.#sizes;
    let below = 0;
    let perCharacter = Infinity;
    for (const length of lengths) {
      if (length < lengths.at(-1)! && perCharacter * length < telling) continue;
      const { cpuMs } = await run(length);
      if (cpuMs < telling) {
        below = length;
        perCharacter = cpuMs / length;
        continue;
      }
      // The first run also compiles the code.
      let reached = length;
      while (reached / 2 > below && (await run(reached / 2)).cpuMs >= telling) reached /= 2;
      const again = await run(reached);
      if (again.cpuMs >= telling) return { length: reached, cpuMs: again.cpuMs };
      below = reached;
    }
    return undefined;
  }

  /**
   * Measures the growth for a doubled input. If it is too large, takes the lesser of the growth from n to 4n
   * and from 2n to 8n, because a first garbage collection is not growth.
   */
  async #growth(run: (length: number) => Promise<Ran>, first: Telling, maxLength: number): Promise<number> {
    // If inputs are bounded, the growth up to the bound counts.
    const length = Math.min(first.length, maxLength / 4);
    const growth = await this.#growthFrom(run, length, length === first.length ? first.cpuMs : undefined);
    return growth <= MOST_GROWTH || length * 8 > maxLength
      ? growth
      : Math.min(growth, await this.#growthFrom(run, length * 2));
  }

  /** @param known what `length` has cost already; a growth that is too large is measured anew. */
  async #growthFrom(run: (length: number) => Promise<Ran>, length: number, known?: number): Promise<number> {
    let least: readonly [number, number] = [known ?? Infinity, Infinity];
    let growth = Infinity;
    for (let attempt = 0; attempt <= this.#sizes.retries && growth > MOST_GROWTH; attempt++) {
      const small = attempt === 0 && known !== undefined ? known : (await run(length)).cpuMs;
      const large = await run(length * 4);
      least = [Math.min(least[0], small), Math.min(least[1], large.cpuMs)];
      growth = Math.sqrt(least[1] / least[0]);
    }
    return growth;
  }

  async #start(): Promise<Listed> {
    this.#thread = new Worker(new URL("./measure-thread.ts", import.meta.url), {
      workerData: { family: this.#family, extent: this.#sizes.extent },
      execArgv: [],
      stderr: true,
      stdout: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    return this.#answer<Listed>();
  }

  async #run(run: Run): Promise<Ran> {
    if (this.#thread === undefined) await this.#start();
    this.#thread!.postMessage(run);
    return this.#answer<Ran>(run);
  }

  /** Waits for the thread's next message. @throws Hang if it sends nothing in time, or ends. */
  async #answer<T>(run?: Run): Promise<T> {
    const thread = this.#thread!;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const of = run === undefined ? "" : ` on ${run.length} characters`;
    const timer = setTimeout(
      () => reject(new Hang(`hangs${of}: no end after ${this.#sizes.deadlineMs / 1_000} s`)),
      this.#sizes.deadlineMs,
    );
    thread.once("message", resolve);
    thread.once("error", (error: Error) => reject(new Hang(`ends its thread${of}: ${error.message}`)));
    try {
      return await promise;
    } catch (error) {
      this.#thread = undefined;
      void thread.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
      thread.removeAllListeners("error").removeAllListeners("message");
      thread.on("error", () => undefined);
    }
  }
}

/** Lists every subject of a family that costs more than it may, a line each. */
export async function findingsOf(family: FamilyName, sizes: Sizes = IN_TESTS): Promise<string[]> {
  const findings: string[] = [];
  for await (const { subject, shape, faults } of measureFamily(family, sizes)) {
    if (faults.length > 0) findings.push(`${subject} on ${shape}: ${faults.at(-1)!}`);
  }
  return findings;
}

export async function* measureFamily(family: FamilyName, sizes: Sizes): AsyncGenerator<Measured> {
  const measurer = new Measurer(family, sizes);
  try {
    for (const subject of await measurer.list())
      for (const shape of subject.shapes) yield await measurer.measure(subject, shape);
  } finally {
    await measurer.close();
  }
}
