/** The only place that looks at which ports are free. */
import { randomInt } from "node:crypto";
import { connect, createServer } from "node:net";
import { StartError, hasCode } from "./start-error.ts";

const LOOPBACK = "127.0.0.1";
const LOWEST = 10_000;
/** From here on Linux hands ports out to connections that go out, so that a port seen as free may be taken before a server listens on it. */
const LOWEST_OF_THE_SYSTEM = 32_768;
const TRIES = 50;

/** Undefined where `port` can be listened on, else the system's code, e.g. `EADDRINUSE`. */
async function portProblem(port: number, host: string = LOOPBACK): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error) =>
      resolve(
        hasCode(error, "EADDRINUSE") ? "EADDRINUSE" : "code" in error ? String(error.code) : error.message,
      ),
    );
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
}

/** `preferred` where it is free, else any free port on loopback between 10000 and 32767. @throws StartError where none was found. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await portProblem(preferred)) === undefined) return preferred;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(LOWEST, LOWEST_OF_THE_SYSTEM);
    if ((await portProblem(port)) === undefined) return port;
  }
  throw new StartError(
    `No free port on ${LOOPBACK} was found among ${TRIES} between ${LOWEST} and ${LOWEST_OF_THE_SYSTEM - 1}.`,
  );
}

/** True if something on loopback takes connections at the port. */
export async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: LOOPBACK });
    const answer = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}

/** @throws StartError where the address of the API is taken or not allowed. */
export async function assertPortFree(variable: string, port: number, host: string): Promise<void> {
  const problem = await portProblem(port, host);
  if (problem === undefined) return;
  if (problem === "EADDRINUSE")
    throw new StartError(
      `Port ${port} on ${host} is in use. Stop what listens there, or choose another: ${variable}=${port + 1} npm start`,
    );
  if (problem === "EACCES")
    throw new StartError(
      `Port ${port} may not be listened on by this user. Choose one above 1023, e.g. ${variable}=8080 npm start`,
    );
  throw new StartError(`${host}:${port} cannot be listened on (${problem}). Check HOST and ${variable}.`);
}

/** What a start is to listen on: the setting's name and the port; undefined where nothing listens. */
type Wanted = readonly [variable: string, port: number | undefined];

/** @throws StartError where two of them are one port, or one is taken or not allowed. */
export async function assertPortsFree(wanted: readonly Wanted[], host: string): Promise<void> {
  const seen = new Map<number, string>();
  for (const [variable, port] of wanted) {
    if (port === undefined) continue;
    const other = seen.get(port);
    if (other !== undefined)
      throw new StartError(
        `${variable} is ${port}, and so is ${other}. Each needs a port of its own: set ${variable}.`,
      );
    seen.set(port, variable);
    await assertPortFree(variable, port, host);
  }
}
