/** What a process of the tests, a bench or a drill must not leave behind when it is interrupted. */

const tasks = new Set<() => void>();
let isWatching = false;

function runAll(): void {
  for (const task of tasks) task();
  tasks.clear();
}

/**
 * Runs the task, which must not wait for anything, when the process is told to end, ends by itself, or has lost the test
 * runner that started it. @returns what takes the task back, for whoever has ended in order.
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
