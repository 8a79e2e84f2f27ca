/** Finds free ports, and checks that ports are free. */
import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { StartError, hasCode } from "./start-error.ts";

const LOOPBACK = "127.0.0.1";
/** Above all ports that `fetch` and browsers refuse, of which 10080 is the highest: fetch.spec.whatwg.org. */
const LOWEST = 10_081;
/** Of the ports that Linux gives to outgoing connections, unless it says otherwise. */
const LOWEST_OF_THE_SYSTEM = 32_768;
const RANGE_OF_THE_SYSTEM = "/proc/sys/net/ipv4/ip_local_port_range";
/** If the system leaves fewer than this below its own, it is not heeded. */
const FEWEST = 1_000;
const TRIES = 50;

/** @returns the system's code, e.g. `EADDRINUSE`, if `port` cannot be listened on; undefined if it can. */
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

/**
 * @returns `preferred` if it is free, else any free port on loopback from 10081 on, below those of outgoing
 *   connections: one of these could be taken before a server listens on it.
 * @throws StartError if it finds none
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await portProblem(preferred)) === undefined) return preferred;
  const end = endOfFreePorts(await readFile(RANGE_OF_THE_SYSTEM, "utf8").catch(() => ""));
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(LOWEST, end);
    if ((await portProblem(port)) === undefined) return port;
  }
  throw new StartError(
    `No free port on ${LOOPBACK} was found among ${TRIES} between ${LOWEST} and ${end - 1}.`,
  );
}

/** @param range the system's first and last port for outgoing connections; empty if it does not say. */
export function endOfFreePorts(range: string): number {
  const lowest = Number.parseInt(range, 10);
  return lowest >= LOWEST + FEWEST ? Math.min(lowest, LOWEST_OF_THE_SYSTEM) : LOWEST_OF_THE_SYSTEM;
}

/** True if something on loopback accepts connections at the port. */
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

/** @throws StartError if the port is in use or not allowed */
export async function assertPortFree(variable: string, port: number, host: string): Promise<void> {
  const problem = await portProblem(port, host);
  if (problem === undefined) return;
  if (problem === "EADDRINUSE")
    throw new StartError(
      `Port ${port} on ${host} is in use. ` +
        `Stop the program using it, or choose another: ${variable}=${port + 1} npm start`,
    );
  if (problem === "EACCES")
    throw new StartError(
      `This user cannot listen on port ${port}. Choose one above 1023, e.g. ${variable}=8080 npm start`,
    );
  throw new StartError(`Cannot listen on ${host}:${port} (${problem}). Check HOST and ${variable}.`);
}

/** A setting and the port it names; undefined if nothing is to listen. */
type Wanted = readonly [variable: string, port: number | undefined];

/** @throws StartError if two settings name the same port, or one is in use or not allowed */
export async function assertPortsFree(wanted: readonly Wanted[], host: string): Promise<void> {
  const seen = new Map<number, string>();
  for (const [variable, port] of wanted) {
    if (port === undefined) continue;
    const other = seen.get(port);
    if (other !== undefined)
      throw new StartError(
        `${variable} and ${other} are both ${port}. Each needs its own port: set ${variable}.`,
      );
    seen.set(port, variable);
    await assertPortFree(variable, port, host);
  }
}
