/** Resolves names that users choose, without the threads that all other look-ups of the process wait for. */
import { type LookupAddress, promises as dns } from "node:dns";

const TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Asks the name servers of the system for both kinds of addresses. Names that only a file of this machine
 * knows are not found.
 * @param servers instead of those of the system.
 * @throws Error with a code of `node:dns` if there is no address.
 */
export async function addressesByDns(host: string, servers?: readonly string[]): Promise<LookupAddress[]> {
  // A new one each time, since one keeps the servers that there were when it was made.
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [
    ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0 && v4.status === "rejected") throw v4.reason;
  return found;
}
