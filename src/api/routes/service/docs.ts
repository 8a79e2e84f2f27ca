/** The OpenAPI document and the page that shows it. The page loads nothing from other hosts. */
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

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Holdfast API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/swagger-ui.css"></head>
<body><div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script></body>
</html>
`;

const START = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const FILES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};

const swaggerFolder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

const hidden = {
  method: "GET",
  isUnversioned: true,
  isDocumented: false,
  access: "public",
  status: 200,
  tags: ["Documentation"],
} as const;

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
    defineRoute({
      ...hidden,
      path: "/openapi.json",
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
    defineRoute({
      ...hidden,
      path: "/docs",
      summary: "The OpenAPI document as a page.",
      handle: async () =>
        raw({
          contentType: "text/html; charset=utf-8",
          body: PAGE,
          headers: { "Content-Security-Policy": CSP },
        }),
    }),
    defineRoute({
      ...hidden,
      path: "/docs/:file",
      summary: "What the page loads.",
      params: z.object({ file: z.string().max(255) }),
      async handle({ params }) {
        if (params.file === "start.js")
          return raw({ contentType: "text/javascript; charset=utf-8", body: START });
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
