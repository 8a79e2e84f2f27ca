/** A budget of requests, chat turns or tokens, as callers see it in headers and answers. */

export interface Budget {
  /** Whose budget it is and of what: `user-requests`. */
  readonly name: string;
  readonly quota: number;
  /** The seconds after which the whole quota is available again; absent if it counts what is open at once. */
  readonly windowSeconds?: number;
  /** What is counted; absent for requests. */
  readonly unit?: "tokens";
}

/**
 * The budget as an item of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers):
 * `"user-requests";q=600;w=60`. Names are made by us, of lower case letters and hyphens, and need no escapes.
 */
export function policyItem({ name, quota, windowSeconds, unit }: Budget): string {
  const window = windowSeconds === undefined ? "" : `;w=${windowSeconds}`;
  return `"${name}";q=${quota}${window}${unit === undefined ? "" : `;qu="${unit}"`}`;
}
