/** Finds the addresses of a host, and refuses those that are not on the public internet. */
import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export interface AddressRules {
  readonly isPublic?: (address: string) => boolean;
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
}

/** All of IPv6 that is given out; what is outside of it, such as `::7f00:1`, may name an IPv4 address too. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** False for an address off the public internet, also if it is the IPv6 form of such an IPv4 one. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `process` turns IPv4-mapped addresses into IPv4; other tunnels have ranges that are not `unicast`.
  const known = ipaddr.process(address);
  if (known.range() !== "unicast") return false;
  return known instanceof ipaddr.IPv4 || known.match(GLOBAL_UNICAST);
}

/** The host of a URL as an address or a name: IPv6 addresses stand in brackets there. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/**
 * All addresses of the host, which is a name or an address itself; none if one of them is not public: a name
 * with both kinds is an attack or a mistake. Connect to one of these and do not resolve the name again, so
 * that it cannot resolve to another address in between (DNS rebinding).
 * @throws what the resolver throws.
 * @see test/agents/tools/http-fetch.test.ts
 */
export async function publicAddresses(
  host: string,
  { resolve = systemAddresses, isPublic = isPublicAddress }: AddressRules,
): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  return addresses.every(({ address }) => isPublic(address)) ? addresses : [];
}

export function systemAddresses(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });
}
