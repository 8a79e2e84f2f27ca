/**
 * The guide as VitePress builds it, in the folder that scripts/guide/stage.ts has filled with pages. What it
 * makes must work under the CSP of src/api/routes/service/guide.ts: nothing inline, nothing from other hosts.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { CODE_THEME, asGitHub, classesForCode, useMarkdown } from "./markdown.ts";

interface Staged {
  readonly sidebar: [];
  readonly sources: Readonly<Record<string, string>>;
}

const staged = JSON.parse(readFileSync(join(import.meta.dirname, "staged.json"), "utf8")) as Staged;

const SEARCH = { prefix: true, fuzzy: 0.15, boost: { title: 4, text: 2, titles: 1 } };

/** VitePress takes one slash at the end of an address for a folder's page, and the guide has no folders. */
const ONE_ADDRESS = `{
  const { pathname, search, hash } = location;
  const wanted = /^\\/docs\\/*$/.test(pathname) ? "/docs/" : pathname.replace(/\\/+$/, "");
  if (wanted !== pathname) history.replaceState(null, "", wanted + search + hash);
}`;

export default defineConfig({
  lang: "en",
  title: "Holdfast",
  titleTemplate: ":title · Holdfast",
  description: "How to use Holdfast: upload documents, search them, and chat with agents over them.",
  base: "/docs/",
  cleanUrls: true,
  // Its switch would otherwise write a style element.
  appearance: { disableTransition: false },
  lastUpdated: false,
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: "/docs/mark.svg" }],
    ["meta", { name: "color-scheme", content: "light dark" }],
    ["script", {}, ONE_ADDRESS],
  ],
  markdown: {
    // The pages are text for people who read them on GitHub too: `<name>` is no element there.
    html: false,
    anchor: { slugify: asGitHub },
    theme: CODE_THEME,
    codeTransformers: [classesForCode],
    languageAlias: { dotenv: "ini" },
    config: (md) => useMarkdown(md, staged.sources),
  },
  themeConfig: {
    logo: { src: "/mark.svg", alt: "" },
    siteTitle: "Holdfast",
    search: { provider: "local", options: { miniSearch: { searchOptions: SEARCH } } },
    sidebar: staged.sidebar,
    nav: [
      { text: "Guide", link: "/quick-start", activeMatch: "^/(?!reference|settings|errors/)" },
      { text: "Reference", link: "/reference", activeMatch: "^/reference" },
      { text: "Settings", link: "/settings" },
      { text: "Try it", link: "/try", target: "_self" },
    ],
    outline: { level: [2, 3], label: "On this page" },
    docFooter: { prev: "Before", next: "Next" },
    externalLinkIcon: true,
  },
});
