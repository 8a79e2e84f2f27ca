/** The table that an upgrade drill prints: a row for each step and each promise, as it comes. */

export interface Finding {
  /** What was looked at, counted. */
  readonly seen: string;
  readonly faults: readonly string[];
}

export interface Report {
  /** Everything that was wrong so far. */
  readonly faults: readonly string[];
  /** A line that is no row; left out of JSON. */
  say(line: string): void;
  /** Does what later rows build on. @throws Error when it cannot be done, once that stands in its row. */
  step<T>(what: string, work: () => Promise<Done<T>>): Promise<T>;
  /** Looks whether a promise holds; the rows after it do not need it. */
  promise(what: string, look: () => Promise<Finding>): Promise<void>;
}

interface Done<T> {
  readonly seen: string;
  readonly result: T;
}

const SHOWN = 3;
const SHOWN_CHARACTERS = 200;

/** @param isJson prints each row as one line of JSON, and nothing else. */
export function openReport(isJson: boolean): Report {
  const faults: string[] = [];
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const say = (line: string): void => (isJson ? undefined : print(line));
  const note = (what: string, started: number, finding: Finding): void => {
    const seconds = (performance.now() - started) / 1_000;
    const holds = finding.faults.length === 0;
    faults.push(...finding.faults);
    if (isJson) print(JSON.stringify({ step: what, ...finding, seconds, holds }));
    say(
      `| ${what} | ${finding.seen} | ${seconds.toFixed(1)} | ${holds ? "holds" : wordsOf(finding.faults)} |`,
    );
  };
  say("| step, promise | seen | seconds | |");
  say("|---|---|---|---|");
  return {
    faults,
    say,
    async step(what, work) {
      const started = performance.now();
      try {
        const { seen, result } = await work();
        note(what, started, { seen, faults: [] });
        return result;
      } catch (error) {
        note(what, started, { seen: "", faults: [String(error)] });
        throw error;
      }
    },
    async promise(what, look) {
      const started = performance.now();
      note(what, started, await look().catch((error: unknown) => ({ seen: "", faults: [String(error)] })));
    },
  };
}

/** Not more than can be read in a table. */
function wordsOf(faults: readonly string[]): string {
  const short = faults.map((fault) => fault.replaceAll(/\s+/g, " ").trim().slice(0, SHOWN_CHARACTERS));
  const counted = [...Map.groupBy(short, (fault) => fault)].map(([fault, same]) =>
    same.length === 1 ? fault : `${fault} (${same.length} times)`,
  );
  return [
    ...counted.slice(0, SHOWN),
    ...(counted.length > SHOWN ? [`and ${counted.length - SHOWN} more`] : []),
  ].join("; ");
}
