/** Tells an orchestrator's probes over HTTP whether this worker lives, and whether it gets work done, on a port of its own. */
import { type Probe, answersInTime } from "../process/answers-in-time.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ExpectedFailure } from "../domain/expected-failure.ts";

interface HealthDeps {
  readonly port: number;
  readonly host: string;
  /** Whether every queue of this worker is polled. */
  readonly isPolling: () => boolean;
  /** For so long an answer of the dependencies is told to whoever asks; 1,000 ms where absent. */
  readonly freshMs?: number;
  /** What it can do nothing without. */
  readonly probes: Readonly<Record<"database" | "workflows", Probe>>;
}

export interface ServedHealth {
  readonly port: number;
  /** From now on the worker says that it takes no more work; it still lives. */
  drain(): void;
  close(): Promise<void>;
}

/** Whoever asks more often is told what was seen: the port asks for no key, and each look takes a connection of the pool. */
const FRESH_MS = 1_000;

/**
 * `GET /health` answers 200 as long as this process gets round to it. `GET /health/ready` answers 200 while the worker polls its
 * queues and Postgres and Temporal answer, else 503; both say in JSON what was seen.
 * @throws ExpectedFailure if the port cannot be listened on: probes would end a worker that nothing else is wrong with. Its cause says why: another start may find the port free.
 */
export async function serveHealth({
  port,
  host,
  isPolling,
  probes,
  freshMs = FRESH_MS,
}: HealthDeps): Promise<ServedHealth> {
  let isDraining = false;
  let last:
    | { readonly at: number; readonly seen: Promise<[database: boolean, workflows: boolean]> }
    | undefined;
  const readiness = async (): Promise<{ isReady: boolean; body: object }> => {
    const now = performance.now();
    if (last === undefined || now - last.at >= freshMs)
      last = {
        at: now,
        seen: Promise.all([answersInTime(probes.database), answersInTime(probes.workflows)]),
      };
    const [database, workflows] = await last.seen;
    const polls = isPolling();
    const isReady = database && workflows && polls && !isDraining;
    return {
      isReady,
      body: {
        status: isReady ? "ready" : isDraining ? "draining" : "unavailable",
        polls,
        database,
        workflows,
      },
    };
  };
  const server = createServer((request, response) => {
    const send = (status: number, body: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/health") send(200, { status: "ok" });
    else if (request.url === "/health/ready")
      void readiness().then(({ isReady, body }) => send(isReady ? 200 : 503, body));
    else send(404, {});
  });
  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen({ port, host }, resolve),
  ).catch((error: NodeJS.ErrnoException) => {
    throw new ExpectedFailure(`HEALTH_PORT cannot be listened on: ${error.code ?? error.message}`, error);
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => void (isDraining = true),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
