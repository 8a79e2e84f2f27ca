/** The identity that our workers give to Temporal; it shows which of them are of an older version. */
import { hostname } from "node:os";

/** Follows the process and its machine, which are all that workers of version 0.3.0 name. */
const KNOWS = "/bound-payloads";

export function workerIdentity(): string {
  return `${process.pid}@${hostname()}${KNOWS}`;
}

export function understandsBoundPayloads(identity: string): boolean {
  return identity.endsWith(KNOWS);
}
