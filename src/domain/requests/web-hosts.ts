/** Which hosts and addresses of the web the service may ask for somebody else. */
import ipaddr from "ipaddr.js";

/** True if a pattern is the host, or is `*.example.org` and the host is under that domain. */
export function isAllowedHost(host: string, patterns: readonly string[]): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return patterns.some((pattern) => {
    const wanted = pattern.trim().toLowerCase();
    return wanted.startsWith("*.") ? name.endsWith(wanted.slice(1)) : name === wanted;
  });
}

/**
 * False for an address that is not routed on the public internet, also if it is the IPv6 form of such an IPv4
 * address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `process` turns IPv4-mapped addresses into IPv4; other tunnels are ranges of their own, which are not
  // `unicast`.
  return ipaddr.process(address).range() === "unicast";
}
