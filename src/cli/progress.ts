/** Shows the progress of a command: on standard error, only on a terminal, and never together with JSON. */
import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  /** Shows a bar if `total` is known, else only the counts. */
  show(counts: Readonly<Record<string, unknown>>, done?: number, total?: number): void;
  /** Removes it from the terminal. */
  stop(): void;
}

const NONE: Progress = { show: () => undefined, stop: () => undefined };
const CLEAR_LINE = "\r\u001b[K";

export function startProgress(what: string, { json }: { readonly json?: boolean | undefined }): Progress {
  if (json || !process.stderr.isTTY) return NONE;
  const options = {
    format: `${what} {bar} {percentage}% | {value} of {total} | {counts}`,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
  };
  const bar = new SingleBar(options, Presets.shades_classic);
  let isOpen = false;
  return {
    show(counts, done = 0, total = 0) {
      const text = numbersOf(counts);
      if (total === 0) return void process.stderr.write(`${CLEAR_LINE}${what}  ${text}`);
      if (!isOpen) bar.start(total, done, { counts: text });
      isOpen = true;
      bar.setTotal(total);
      bar.update(done, { counts: text });
    },
    stop() {
      if (isOpen) bar.stop();
      else process.stderr.write(CLEAR_LINE);
    },
  };
}

/** Does `work` for one item after the other and shows how many are done. */
export async function eachShown<T, R>(
  progress: Progress,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  try {
    for (const item of items) {
      progress.show({}, done.length, items.length);
      done.push(await work(item));
    }
    return done;
  } finally {
    progress.stop();
  }
}

function numbersOf(counts: Readonly<Record<string, unknown>>): string {
  const numbers = Object.entries(counts).filter(
    ([name, value]) => typeof value === "number" && !name.endsWith("_total"),
  );
  return numbers.map(([name, value]) => `${name} ${String(value)}`).join("  ");
}
