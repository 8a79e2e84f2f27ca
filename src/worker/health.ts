/** Answers the liveness and readiness probes of an orchestrator, on a port of its own. */
import { type Probe, answersInTime } from "../process/answers-in-time.ts";
import { shareFor } from "../process/concurrency/share-running.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ExpectedFailure } from "../domain/expected-failure.ts";

interface HealthDeps {
  readonly port: number;
  readonly host: string;
  /** Whether every queue of this worker is polled. */
  readonly isPolling: () => boolean;
  /** How long an answer of the dependencies is reused; 1,000 ms by default. */
  readonly freshMs?: number;
  /** The services that the worker can do nothing without. */
  readonly probes: Readonly<Record<"database" | "workflows", Probe>>;
}

export interface ServedHealth {
  readonly port: number;
  /** Makes the worker report that it takes no more work; it stays alive. */
  drain(): void;
  close(): Promise<void>;
}

/** The port asks for no key and each check takes a connection, so they are not made more often. */
const FRESH_MS = 1_000;

/**
 * `GET /health` answers 200 while the event loop runs. `GET /health/ready` answers 200 while the worker polls
 * its queues and Postgres and Temporal answer, else 503. Both answer with JSON that says what was found.
 * @throws ExpectedFailure if the port cannot be listened on, because probes would then kill a healthy worker.
 * The cause says why.
 */
export async function serveHealth({
  port,
  host,
  isPolling,
  probes,
  freshMs = FRESH_MS,
}: HealthDeps): Promise<ServedHealth> {
  let isDraining = false;
  const probe = shareFor(freshMs, () =>
    Promise.all([answersInTime(probes.database), answersInTime(probes.workflows)]),
  );
  const readiness = async (): Promise<{ isReady: boolean; body: object }> => {
    const [database, workflows] = await probe();
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
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url === "/health") send(200, { status: "ok" });
    else if (request.url === "/health/ready")
      void readiness().then(({ isReady, body }) => send(isReady ? 200 : 503, body));
    else send(404, {});
  });
  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen({ port, host }, resolve),
  ).catch((error: NodeJS.ErrnoException) => {
    throw new ExpectedFailure(`Cannot listen on HEALTH_PORT: ${error.code ?? error.message}`, error);
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain() {
      isDraining = true;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
