/** Says how a process reaches a server of its own machine. */

/**
 * The URL under which this machine reaches a server that listens on `host`.
 * @example localAddress("0.0.0.0", 8080) // "http://127.0.0.1:8080"
 */
export function localAddress(host: string, port: number): string {
  const isEveryAddress = host === "0.0.0.0" || host === "::";
  if (isEveryAddress) return `http://127.0.0.1:${port}`;
  const isIpv6 = host.includes(":");
  return `http://${isIpv6 ? `[${host}]` : host}:${port}`;
}
