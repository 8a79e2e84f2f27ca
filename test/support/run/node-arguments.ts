/**
 * Node's arguments for the processes of a test run, vitest's own among them. Many processes share few cores:
 * garbage is collected by the thread that made it, since threads that help would wait for each other, and
 * never because a process is idle. On two busy cores a start costs a tenth less.
 */
export const NODE_ARGUMENTS = [
  "--no-memory-reducer",
  "--single-threaded-gc",
  "--min-semi-space-size=16",
  "--conditions=quick-timings",
];
