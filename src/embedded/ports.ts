/** The only place that looks at which ports are free. */
import { createServer } from "node:net";
import { StartError, hasCode } from "./start-error.ts";

const LOOPBACK = "127.0.0.1";

/** Undefined where `port` can be listened on, else the system's code, e.g. `EADDRINUSE`. */
async function portProblem(port: number, host: string = LOOPBACK): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error) => resolve(hasCode(error, "EADDRINUSE") ? "EADDRINUSE" : "code" in error ? String(error.code) : error.message));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
}

/** `preferred` where it is free, else any free port on loopback. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await portProblem(preferred)) === undefined) return preferred;
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, LOOPBACK, () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** @throws StartError where the address of the API is taken or not allowed. */
export async function assertPortFree(variable: string, port: number, host: string): Promise<void> {
  const problem = await portProblem(port, host);
  if (problem === undefined) return;
  if (problem === "EADDRINUSE") throw new StartError(`Port ${port} on ${host} is in use. Stop what listens there, or choose another: ${variable}=${port + 1} npm start`);
  if (problem === "EACCES") throw new StartError(`Port ${port} may not be listened on by this user. Choose one above 1023, e.g. ${variable}=8080 npm start`);
  throw new StartError(`${host}:${port} cannot be listened on (${problem}). Check HOST and ${variable}.`);
}
