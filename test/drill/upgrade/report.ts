/** Prints the table of an upgrade drill, with a row for each step and each promise, as it goes. */

export interface Finding {
  /** What was checked, with numbers. */
  readonly seen: string;
  readonly faults: readonly string[];
}

export interface Report {
  /** Everything that has been wrong so far. */
  readonly faults: readonly string[];
  /** Prints a line that is not a row; omitted from JSON. */
  say(line: string): void;
  /** Runs a step that later rows depend on. @throws Error if it fails, after its row was printed. */
  step<T>(what: string, work: () => Promise<Done<T>>): Promise<T>;
  /** Checks a promise; the rows after it do not depend on it. */
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

/** Shortens the list of faults to what is readable in a table. */
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
