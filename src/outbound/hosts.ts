/** Which hosts an operator's list names. */

/** True if a pattern is the host, or is `*.example.org` and the host is under that domain. */
export function isAllowedHost(host: string, patterns: readonly string[]): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return patterns.some((pattern) => {
    const wanted = pattern.trim().toLowerCase();
    return wanted.startsWith("*.") ? name.endsWith(wanted.slice(1)) : name === wanted;
  });
}
