/** The page at `/`: where people and programs go on. It loads nothing and runs nothing. */
import { createHash } from "node:crypto";
import { raw } from "../../response.ts";
import { defineRoute } from "../../route.ts";
import { HIDDEN_PAGE } from "./hidden-page.ts";

const TEXTS = {
  en: {
    text: "Search and chat over a team's own documents.",
    console: "Open the console",
    docs: "Read the documentation",
  },
  de: {
    text: "Suche und Chat über die Dokumente Ihres Teams.",
    console: "Konsole öffnen",
    docs: "Dokumentation lesen (englisch)",
  },
} as const;

const STYLE = `
  :root { color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif; }
  body { max-width: 30rem; margin: 15vh auto; padding: 0 1rem; }
  a { display: inline-block; margin: 0 1rem 1rem 0; color: light-dark(#364fc7, #91a7ff); }`;

const POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const landingRoute = defineRoute("GET /", {
  ...HIDDEN_PAGE,
  summary: "Leads to the console and to the guide.",
  handle: async ({ request }) => {
    const language = /^\s*de\b/i.test(request.headers["accept-language"] ?? "") ? "de" : "en";
    const texts = TEXTS[language];
    return raw({
      contentType: "text/html; charset=utf-8",
      body: `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Holdfast</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
      <h1>Holdfast</h1>
      <p>${texts.text}</p>
      <p><a href="/console">${texts.console}</a> <a href="/docs">${texts.docs}</a></p>
    </main>
  </body>
</html>
`,
      headers: { "Cache-Control": "no-cache", "Content-Security-Policy": POLICY, Vary: "Accept-Language" },
    });
  },
});
