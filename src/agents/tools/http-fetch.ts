/** The tool that reads web pages of hosts that the operator allows. */
import { z } from "zod";
import { DomainError } from "../../domain/errors.ts";
import { fenceData } from "../sources.ts";
import { defineTool } from "./define-tool.ts";
import { fetchPublic, isAllowedHost } from "./public-http.ts";
import type { Tool } from "./tool.ts";

/** An agent's `config` may narrow what the operator allows. */
const Config = z.object({ hosts: z.array(z.string()) });

/** `hosts` are names, or `*.example.org` for all below one; none allows nothing. */
export function createHttpFetch(hosts: readonly string[]): Tool {
  return defineTool({
    name: "http_fetch",
    reachesOut: true,
    description: "Reads one page or file of text from the web by GET. Only some hosts are allowed.",
    args: z.object({ url: z.string().max(2_048).describe("Absolute http or https address.") }),
    async run({ config }, { url }, signal) {
      if (hosts.length === 0) throw new DomainError("bad_request", "No host is allowed for http_fetch.");
      const narrowed = Config.safeParse(config);
      const isAllowed = (host: string): boolean => isAllowedHost(host, hosts) && (!narrowed.success || isAllowedHost(host, narrowed.data.hosts));
      const page = await fetchPublic(url, { isAllowed }, signal);
      const head = `${page.status} ${page.contentType || "(no type)"} ${page.url}${page.isCut ? " (only the beginning is shown)" : ""}`;
      return { type: "text", text: `${head}\n${fenceData(page.text)}` };
    },
  });
}
