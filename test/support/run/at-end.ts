/** Takes away what a process of the tests, a bench or a drill must not leave behind if it is interrupted. */

const tasks = new Set<() => void>();
let isWatching = false;

function runAll(): void {
  for (const task of tasks) task();
  tasks.clear();
}

/**
 * Runs the task, which must be synchronous, when the process is told to end, ends by itself, or has lost the
 * test runner that started it.
 * @returns a function that withdraws the task, for a process that has cleaned up in order.
 */
export function atEnd(task: () => void): () => void {
  tasks.add(task);
  if (!isWatching) {
    isWatching = true;
    process.once("exit", runAll);
    const end = (): void => {
      runAll();
      process.exit(1);
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, end);
    process.once("disconnect", end);
  }
  return () => void tasks.delete(task);
}
