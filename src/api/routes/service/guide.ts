/** The guide at /docs: the files that scripts/guide has built. */
import { z } from "zod";
import { DomainError } from "../../../domain/errors.ts";
import { defineRoute, type Route } from "../../route.ts";
import { createSite } from "../../site/site.ts";
import { findGuide } from "../../site/sites.ts";
import { HIDDEN_PAGE, MAX_FILE_PATH } from "./hidden-page.ts";

/** What the guide's pages may load: files of this server. Nothing inline runs or styles. */
export const GUIDE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** @param find the folder of the built guide, given the data folder */
export function guideRoutes(find: typeof findGuide = findGuide): Route[] {
  const site = createSite({
    find,
    notYet: "The guide is being built and will be here within a minute.\nBy hand: npm run guide\n",
    pageHeaders: { "Content-Security-Policy": GUIDE_CSP },
  });
  const fileOf = async (path: string, asked: Parameters<typeof site.answer>[1]) => {
    const answer = await site.answer(path, asked);
    if (answer === undefined) throw new DomainError("route_not_found", "Not Found");
    return answer;
  };
  return [
    defineRoute("GET /docs", {
      ...HIDDEN_PAGE,
      summary: "The guide.",
      handle: ({ deps, request }) => fileOf("", { dataDir: deps.config.dataDir, headers: request.headers }),
    }),
    defineRoute("GET /docs/*path", {
      ...HIDDEN_PAGE,
      summary: "A page of the guide, or what it loads.",
      params: z.object({ path: z.string().max(MAX_FILE_PATH) }),
      handle: ({ deps, params, request }) =>
        fileOf(params.path, { dataDir: deps.config.dataDir, headers: request.headers }),
    }),
  ];
}
