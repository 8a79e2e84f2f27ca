/** The console at /console: the files that scripts/console has built, and what this service is. */
import { z } from "zod";
import { DomainError } from "../../../domain/errors.ts";
import type { Config } from "../../../config/config.ts";
import { raw } from "../../response.ts";
import { defineRoute, type Route } from "../../route.ts";
import { createSite } from "../../site/site.ts";
import { findConsole } from "../../site/sites.ts";
import { HIDDEN_PAGE, MAX_FILE_PATH } from "./hidden-page.ts";

/** @param find the folder of the built console, given the data folder */
export function consoleRoutes(find: typeof findConsole = findConsole): Route[] {
  const site = createSite({
    find,
    notYet: "The console is being built and will be here within a minute.\nBy hand: npm run console\n",
    pageHeaders: {
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    },
  });
  return [
    defineRoute("GET /console/config.json", {
      ...HIDDEN_PAGE,
      summary: "What the console must know of this service.",
      handle: async ({ deps }) =>
        raw({
          contentType: "application/json; charset=utf-8",
          body: JSON.stringify(configurationOf(deps.config)),
          headers: { "Cache-Control": "no-cache" },
        }),
    }),
    ...(["GET /console", "GET /console/*path"] as const).map((endpoint) =>
      defineRoute(endpoint, {
        ...HIDDEN_PAGE,
        summary: "The console.",
        params: z.object({ path: z.string().max(MAX_FILE_PATH).default("") }),
        async handle({ deps, params, request }) {
          const { config } = deps;
          const asked = {
            dataDir: config.dataDir,
            headers: request.headers,
            pageHeaders: { "Content-Security-Policy": policyOf(config) },
          };
          const file = await site.answer(params.path, asked);
          if (file !== undefined) return file;
          // A file of an older build that is gone; every other address is a place within the console.
          if (params.path.startsWith("assets/")) throw new DomainError("route_not_found", "Not Found");
          return (await site.answer("", asked))!;
        },
      }),
    ),
  ];
}

/** Public, and as static as the settings: a host of its own can serve the same as a file. */
function configurationOf({ console: settings, oidc, temporal }: Config) {
  return {
    // The page's own origin.
    api: "",
    issuer: oidc?.issuer ?? null,
    client_id: oidc === undefined ? null : (settings.clientId ?? null),
    scope: settings.scope,
    authorization_parameters: settings.authorizationParameters,
    temporal_ui: settings.temporalUi ?? null,
    temporal_namespace: temporal.namespace,
    metrics: settings.metricsUrl === undefined ? [] : [settings.metricsUrl],
  };
}

/**
 * What the console's pages may do: run and load files of this server, and talk to it and to the issuer.
 * Styles may be inline, because Mantine writes the sizes and colours of components into style elements.
 */
function policyOf({ console: settings, oidc }: Config): string {
  const issuer = oidc === undefined ? [] : [new URL(oidc.issuer).origin];
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "font-src 'self'",
    `connect-src ${["'self'", ...issuer, ...settings.issuerOrigins].join(" ")}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types default",
  ].join("; ");
}
