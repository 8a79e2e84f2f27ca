/** The OpenAPI document, and a page to try it from, which loads nothing from other hosts. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { z } from "zod";
import { listsEtag } from "../../../commands/etag.ts";
import { DomainError } from "../../../domain/errors.ts";
import { createOpenApi } from "../../openapi.ts";
import { raw } from "../../response.ts";
import { defineRoute, type Route } from "../../route.ts";
import { GUIDE_CSP } from "./guide.ts";
import { HIDDEN_PAGE } from "./hidden-page.ts";

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Try it · Holdfast</title>
<link rel="icon" type="image/svg+xml" href="/docs/mark.svg">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/try/swagger-ui.css"><link rel="stylesheet" href="/docs/try/start.css"></head>
<body><p class="back"><a href="/docs/">Holdfast guide</a> / Try it</p><div id="swagger-ui"></div>
<script src="/docs/try/swagger-ui-bundle.js"></script><script src="/docs/try/start.js"></script></body>
</html>
`;

const STYLE = `.back { font: 15px system-ui, sans-serif; margin: 20px auto 0; max-width: 1420px; padding: 0 20px; }
.back a { color: #0f766e; }
.swagger-ui .info { margin: 24px 0; }
`;

const START = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const OWN: Readonly<Record<string, { readonly contentType: string; readonly body: string }>> = {
  "start.js": { contentType: "text/javascript; charset=utf-8", body: START },
  "start.css": { contentType: "text/css; charset=utf-8", body: STYLE },
};

const FILES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};

const swaggerFolder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

interface MadeDocument {
  /** Encoded once, since it is long. */
  readonly body: Buffer;
  readonly etag: string;
}

function makeDocument(documented: readonly Route[]): MadeDocument {
  const body = Buffer.from(JSON.stringify(createOpenApi(documented)));
  return { body, etag: `"${createHash("sha256").update(body).digest("base64url")}"` };
}

/** @param documented the routes that the document describes. */
export function docsRoutes(documented: readonly Route[]): Route[] {
  let made: MadeDocument | undefined;
  return [
    defineRoute("GET /openapi.json", {
      ...HIDDEN_PAGE,
      summary: "The OpenAPI document.",
      async handle({ request }) {
        made ??= makeDocument(documented);
        const headers = { "Cache-Control": "no-cache", ETag: made.etag };
        const isKnown = listsEtag(request.headers["if-none-match"] ?? "", made.etag);
        return raw({
          contentType: "application/json; charset=utf-8",
          ...(isKnown ? { status: 304, body: null } : { body: made.body }),
          headers,
        });
      },
    }),
    defineRoute("GET /docs/try", {
      ...HIDDEN_PAGE,
      summary: "A page to try the API from.",
      handle: async () =>
        raw({
          contentType: "text/html; charset=utf-8",
          body: PAGE,
          headers: { "Content-Security-Policy": GUIDE_CSP, "Cache-Control": "no-cache" },
        }),
    }),
    defineRoute("GET /docs/try/:file", {
      ...HIDDEN_PAGE,
      summary: "What the page loads.",
      params: z.object({ file: z.string().max(255) }),
      async handle({ params }) {
        const own = Object.hasOwn(OWN, params.file) ? OWN[params.file] : undefined;
        if (own !== undefined) return raw({ ...own, headers: { "Cache-Control": "no-cache" } });
        const contentType = Object.hasOwn(FILES, params.file) ? FILES[params.file] : undefined;
        if (contentType === undefined) throw new DomainError("route_not_found", "Not Found");
        return raw({
          contentType,
          body: await readFile(join(swaggerFolder, params.file)),
          headers: { "Cache-Control": "public, max-age=3600" },
        });
      },
    }),
  ];
}
