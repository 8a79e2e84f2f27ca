/**
 * The built guide, served by the API's own routes: no link leads nowhere, and the pages of errors and the
 * reference are complete.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../src/api/routes/index.ts";
import { ERROR_REASONS } from "../../src/domain/errors.ts";
import { type TinyApp, startTinyApp } from "../support/app/tiny-app.ts";
import { BUILD_MS, buildSite } from "../support/servers/sites.ts";

let app: TinyApp;
/** The HTML of every page that a link or an error leads to, by its path. */
const pages = new Map<string, string>();

beforeAll(async () => {
  await buildSite("guide");
  app = await startTinyApp(ROUTES);
  const open = ["/docs/", ...Object.keys(ERROR_REASONS).map((code) => `/docs/errors/${code}`)];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (pages.has(path)) continue;
    const response = await fetch(app.url + path);
    pages.set(path, response.status === 200 ? await response.text() : "");
    if (response.headers.get("content-type")?.startsWith("text/html") !== true) continue;
    open.push(...linksOf(path).map(({ to }) => to));
  }
}, BUILD_MS);

afterAll(() => app?.close());

interface Link {
  readonly to: string;
  readonly anchor: string;
}

/** The links of a page to places of this server. */
function linksOf(path: string): Link[] {
  return [...pages.get(path)!.matchAll(/<a [^>]*href="([^"]*)"/g)].flatMap(([, href]) => {
    const { origin, pathname, hash } = new URL(href!.replaceAll("&amp;", "&"), app.url + path);
    return origin === app.url ? [{ to: pathname, anchor: decodeURIComponent(hash.slice(1)) }] : [];
  });
}

test("no link of any page leads nowhere, and neither does its anchor", () => {
  const dead = [...pages.keys()].flatMap((path) =>
    linksOf(path)
      .filter(({ to, anchor }) => {
        const target = pages.get(to) ?? "";
        return target === "" || (anchor !== "" && !target.includes(` id="${anchor}"`));
      })
      .map(({ to, anchor }) => `${path} to ${to}#${anchor}`),
  );
  expect([...new Set(dead)]).toEqual([]);
  expect(pages.size).toBeGreaterThan(100);
});

test("every error code has a page with its cause and the way out", () => {
  const without = Object.keys(ERROR_REASONS).filter((code) => {
    const page = pages.get(`/docs/errors/${code}`)!;
    return !page.includes(`<code>${code}</code>`) || !page.includes("What happened");
  });
  expect(without).toEqual([]);
});

test("a code that only runs have claims no HTTP status, and one of answers does", () => {
  expect(pages.get("/docs/errors/corrupt")).toContain("No HTTP answer has it");
  expect(pages.get("/docs/errors/corrupt")).not.toContain("HTTP status");
  expect(pages.get("/docs/errors/empty_file")).toContain("HTTP status <strong>422</strong>");
});

test("the reference shows a document that was just uploaded with the three flags alone", () => {
  const text = pages
    .get("/docs/reference/documents")!
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&quot;", '"');
  const answer = text.slice(text.indexOf("Answer 201"));
  const [, state] = /"processing_state": \{([^}]*)\}/.exec(answer)!;
  expect([...state!.matchAll(/"(\w+)"/g)].map(([, name]) => name)).toEqual(["parsed", "chunked", "embedded"]);
});

test("every operation of the API document is in the reference", async () => {
  const { paths } = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const reference = [...pages].filter(([path]) => path.startsWith("/docs/reference/"));
  const shown = reference.map(([, page]) => page).join("\n");
  const missing = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => !shown.includes(`<h2 id="${operationId.replaceAll(/[._]/g, "-")}"`))
      .map(([method]) => `${method} ${path}`),
  );
  expect(missing).toEqual([]);
});

test("no page names its generator", () => {
  const odd = [...pages].filter(([, page]) => /vitepress(?!-)/i.test(page.replaceAll(/<script[^>]*>/g, "")));
  expect(odd.map(([path]) => path)).toEqual([]);
});
