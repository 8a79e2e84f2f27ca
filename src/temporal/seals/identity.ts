/** The identity that our workers give to Temporal; it shows which of them are of an older version. */
import { hostname } from "node:os";

/** Follows the process and its machine, which are all that workers of version 0.3.0 name. */
const KNOWS = "/bound-payloads";

export function workerIdentity(): string {
  return `${processIdentity()}${KNOWS}`;
}

/** Names this process among those of all machines, such as `4711@machine`. */
export function processIdentity(): string {
  return `${process.pid}@${hostname()}`;
}

/** The {@link processIdentity} of the process that gave Temporal this identity. */
export function processOf(identity: string): string {
  return understandsBoundPayloads(identity) ? identity.slice(0, -KNOWS.length) : identity;
}

export function understandsBoundPayloads(identity: string): boolean {
  return identity.endsWith(KNOWS);
}
