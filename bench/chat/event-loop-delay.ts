/**
 * Answers on EVENT_LOOP_PORT with the delay of the event loop since it was last asked. The chat bench loads
 * it into the API process (`--import`).
 */
import { createServer } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** A timer of a millisecond is late by this without any load. */
const RESOLUTION_MS = 1;

const port = Number(process.env["EVENT_LOOP_PORT"]);
if (isMainThread && Number.isInteger(port) && port > 0) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const server = createServer((_request, response) => {
    const milliseconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
    response.end(
      JSON.stringify({
        p50: milliseconds(delay.percentile(50)),
        p99: milliseconds(delay.percentile(99)),
        max: milliseconds(delay.max),
      }),
    );
    delay.reset();
  });
  server.listen(port, "127.0.0.1").unref();
}
