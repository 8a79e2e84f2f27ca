/** The identity that our workers give to Temporal, from which older versions can be told. */
import { hostname } from "node:os";

/** Follows the process and its machine, which are all that workers of version 0.3.0 name. */
const KNOWS = "/bound-payloads";

export function workerIdentity(): string {
  return `${process.pid}@${hostname()}${KNOWS}`;
}

export function understandsBoundPayloads(identity: string): boolean {
  return identity.endsWith(KNOWS);
}
