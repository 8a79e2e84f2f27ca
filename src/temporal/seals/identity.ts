/** The identity that our workers give to Temporal. */
import { hostname } from "node:os";

/** What workers of 0.10 append to it. */
const SUFFIX_OF_BEFORE = "/bound-payloads";

/** Names this process among those of all machines, such as `4711@machine`. */
export function processIdentity(): string {
  return `${process.pid}@${hostname()}`;
}

/** The {@link processIdentity} of the process that gave Temporal this identity. */
export function processOf(identity: string): string {
  return identity.endsWith(SUFFIX_OF_BEFORE) ? identity.slice(0, -SUFFIX_OF_BEFORE.length) : identity;
}
