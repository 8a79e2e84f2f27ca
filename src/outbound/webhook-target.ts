/** Where deliveries of events may go: what the text of an address says, before its name is resolved. */
import { isIP } from "node:net";
import { bareHost, isPublicAddress } from "./addresses.ts";
import { isAllowedHost } from "./hosts.ts";

/** Why an address is refused, as a code that a delivery shows. */
export type TargetRefusal = "not_https" | "credentials" | "private_target";

/**
 * Says why nothing may be delivered to the address: it is not https, holds credentials, or names an address
 * that is not public. A host that is in `allowHosts` may use http and may be private. Names are resolved and
 * judged at each new connection.
 * @returns undefined if the address is fit.
 */
export function refusalOfTarget(url: URL, allowHosts: readonly string[]): TargetRefusal | undefined {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "not_https";
  if (url.username !== "" || url.password !== "") return "credentials";
  const host = bareHost(url);
  if (isAllowedHost(host, allowHosts)) return undefined;
  if (url.protocol !== "https:") return "not_https";
  return isIP(host) !== 0 && !isPublicAddress(host) ? "private_target" : undefined;
}
