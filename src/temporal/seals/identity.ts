/** How our workers name themselves to Temporal, so that those of an older version are told from them. */
import { hostname } from "node:os";

/** What follows the process and its machine, which is all that workers of version 0.3.0 say. */
const KNOWS = "/bound-payloads";

export function workerIdentity(): string {
  return `${process.pid}@${hostname()}${KNOWS}`;
}

export function understandsBoundPayloads(identity: string): boolean {
  return identity.endsWith(KNOWS);
}
