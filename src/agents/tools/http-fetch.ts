/** The tool that reads web pages of hosts that the operator allows. */
import { z } from "zod";
import { DomainError } from "../../domain/errors.ts";
import { HttpFetchConfig } from "../../schema/tool-config.ts";
import { isAllowedHost } from "../../outbound/hosts.ts";
import { fenceData } from "../sources.ts";
import { defineTool } from "./define-tool.ts";
import { fetchPublic, type Page } from "./public-http.ts";
import type { Tool } from "./tool.ts";

/** @param hosts names, or `*.example.org` for every host under that domain; an empty list allows nothing. */
export function createHttpFetch(hosts: readonly string[]): Tool {
  return defineTool({
    name: "http_fetch",
    reachesOut: true,
    description: "Reads one page or file of text from the web by GET. Only some hosts are allowed.",
    args: z.object({ url: z.string().max(2_048).describe("Absolute http or https address.") }),
    async run({ config }, { url }, signal) {
      if (hosts.length === 0) throw new DomainError("bad_request", "No host is allowed for http_fetch.");
      const narrowed = hostsOf(config);
      const isAllowed = (host: string): boolean =>
        isAllowedHost(host, hosts) && (narrowed === null || isAllowedHost(host, narrowed));
      const page = await fetchPublic(url, { isAllowed }, signal);
      return { type: "text", text: showPage(page) };
    },
  });
}

/**
 * The hosts to which the agent's `config` narrows the operator's; null without a config.
 * @throws DomainError `bad_request` if it is not valid.
 */
function hostsOf(config: unknown): readonly string[] | null {
  if (config === null) return null;
  const parsed = HttpFetchConfig.safeParse(config);
  if (!parsed.success)
    throw new DomainError(
      "bad_request",
      "The agent's config of http_fetch is not understood, so that no host is allowed.",
    );
  return parsed.data.hosts;
}

/** Shows the page to the model. Its final address and its type are the server's data, as its text is. */
export function showPage({ status, isCut, url, contentType, text }: Page): string {
  const head = `Status ${status}${isCut ? ", only the beginning is shown" : ""}.`;
  return `${head} ${fenceData(`${url}\n${contentType || "(no type)"}\n\n${text}`)}`;
}
