/** Where a webhook may deliver to, by its URL. Each delivery looks at what the host resolves to then. */
import { refusalOfTarget, type TargetRefusal } from "../../outbound/webhook-target.ts";
import { isAllowedHost } from "../../outbound/hosts.ts";
import { bareHost } from "../../outbound/addresses.ts";
import { ValidationProblems, valueError } from "../../schema/requests/problem.ts";
import { MAX_URL_CHARACTERS } from "../../schema/webhook.ts";

/**
 * @param allowHosts patterns of hosts that may be private, or spoken to without TLS.
 * @returns the URL in its normal form.
 * @throws ValidationProblems if nothing may be delivered to it.
 */
export function checkedTarget(text: string, allowHosts: readonly string[]): string {
  const url = URL.parse(text);
  if (url === null) throw refusedUrl("must be a URL");
  const fault = faultOf(url, allowHosts);
  if (fault !== undefined) throw refusedUrl(fault);
  return url.href;
}

/** The URL is not repeated: it may hold credentials. */
function refusedUrl(fault: string): ValidationProblems {
  return new ValidationProblems([valueError(["body", "url"], fault)]);
}

const REASONS: Readonly<Record<TargetRefusal, string>> = {
  not_https: "must begin with https://",
  credentials: "must not contain credentials",
  private_target: "must be at a public address",
};

function faultOf(url: URL, allowHosts: readonly string[]): string | undefined {
  const refusal = refusalOfTarget(url, allowHosts);
  if (refusal !== undefined) return REASONS[refusal];
  if (url.hash !== "") return "must not have a fragment";
  if (url.href.length > MAX_URL_CHARACTERS) return `must have at most ${MAX_URL_CHARACTERS} characters`;
  const isLocal = /^(.+\.)?localhost\.?$/.test(url.hostname);
  return isLocal && !isAllowedHost(bareHost(url), allowHosts) ? REASONS.private_target : undefined;
}
