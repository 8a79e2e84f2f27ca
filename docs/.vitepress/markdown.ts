/** Changes to how VitePress turns Markdown into HTML: no style attributes, and no link that leads nowhere. */
import { posix } from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { createCssVariablesTheme, type ShikiTransformer } from "shiki";

type Token = ReturnType<MarkdownRenderer["parse"]>[number];

/** Colors are names here; theme/code.css says what they are in light and in dark. */
export const CODE_THEME = createCssVariablesTheme({ name: "holdfast", variablePrefix: "--code-" });

/** Shiki writes colors as style attributes, which the CSP forbids; here they are classes. */
export const classesForCode: ShikiTransformer = {
  name: "holdfast:classes",
  pre: (node) => void delete node.properties["style"],
  span(node) {
    const names = [...String(node.properties["style"] ?? "").matchAll(/--code-(?:token-)?([\w-]+)/g)];
    delete node.properties["style"];
    if (names.length > 0) this.addClassToHast(node, names.map(([, name]) => `c-${name}`));
  },
};

/** The anchor of a heading as GitHub makes it, since links are written for readers there too. */
export const asGitHub = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");

/** @param sources for each page its file below docs/, as links are written for the reader of that file */
export function useMarkdown(md: MarkdownRenderer, sources: Readonly<Record<string, string>>): void {
  const pages = new Map(Object.entries(sources).map(([page, source]) => [source, page]));
  md.core.ruler.push("holdfast_links", (state) => {
    const { relativePath = "" } = state.env as { relativePath?: string };
    const source = sources[relativePath] ?? relativePath;
    for (const { children } of state.tokens) if (children !== null) resolveLinks(children, { source, pages });
  });
  md.core.ruler.push("holdfast_aligned", (state) => {
    for (const token of state.tokens) {
      const align = /text-align:\s*(\w+)/.exec(token.attrGet("style") ?? "")?.[1];
      if (align === undefined) continue;
      token.attrs = token.attrs!.filter(([name]) => name !== "style");
      token.attrJoin("class", `align-${align}`);
    }
  });
  // Vue would take it for an expression.
  const text = md.renderer.rules.text!;
  md.renderer.rules.text = (...args) => text(...args).replaceAll("{{", "&#123;&#123;");
}

interface Place {
  readonly source: string;
  readonly pages: ReadonlyMap<string, string>;
}

/** Leads a link to the page that is made of the named file; if there is none, only its text stays. */
function resolveLinks(tokens: Token[], place: Place): void {
  let isDropped = false;
  for (const token of tokens) {
    if (token.type === "link_close" && isDropped) {
      isDropped = false;
      drop(token);
    }
    if (token.type !== "link_open") continue;
    const target = targetOf(token.attrGet("href") ?? "", place);
    isDropped = target === undefined;
    if (target === undefined) drop(token);
    else token.attrSet("href", target);
  }
}

function drop(token: Token): void {
  token.type = "text";
  token.tag = "";
  token.content = "";
  token.nesting = 0;
}

function targetOf(href: string, { source, pages }: Place): string | undefined {
  if (/^[a-z]+:|^#/i.test(href)) return href;
  const [path = "", hash] = href.split("#");
  const anchor = hash === undefined ? "" : `#${hash}`;
  if (path.startsWith("/")) return href.replace(/^\/docs(?=\/)/, "");
  const file = posix.join(posix.dirname(source), path);
  if (file === "openapi.json") return "/openapi.json";
  const page = pages.get(file) ?? pages.get(`${file}.md`);
  return page === undefined ? undefined : `/${page.replace(/^index\.md$|\.md$/, "")}${anchor}`;
}
