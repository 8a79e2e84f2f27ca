/** Makes VitePress's output fit a Content-Security-Policy that allows nothing inline; lists the files. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Parser } from "htmlparser2";
import { digest, filesOf, writeListing } from "../site/listing.ts";

/** VitePress's own name, and layout that style.css has instead. */
const GENERATOR = /<meta name="generator" content="[^"]*">/;
const STYLES = [' style="--vp-vh:0px;"', ' style="position:relative;"'];

/** @throws Error if a page holds something that the policy refuses */
export async function finish(out: string): Promise<void> {
  // The client has its content from the page's scripts; nothing reads this one.
  await rm(join(out, "hashmap.json"));
  // What is not there is answered as everywhere in the API.
  await rm(join(out, "404.html"));
  const files = await filesOf(out);
  for (const file of files.filter((name) => name.endsWith(".html"))) await moveScripts(out, file);
  await writeListing(out);
}

/** Puts the inline scripts of the head into one file, which runs before anything is shown, as they did. */
async function moveScripts(out: string, file: string): Promise<void> {
  let page = (await readFile(file, "utf8")).replace(GENERATOR, "");
  for (const style of STYLES) page = page.replaceAll(style, "");
  const scripts = inlineScripts(page);
  const code = scripts.map(({ start, end }) => page.slice(start, end).replace(/^[^>]*>/, "")).join("\n");
  const name = `assets/head.${digest(code)}.js`;
  await writeFile(join(out, name), code);
  for (const { start, end } of scripts.toReversed())
    page = page.slice(0, start) + page.slice(end + "</script>".length);
  const moved = page.replace("</title>", () => `</title>\n    <script src="/docs/${name}"></script>`);
  const refused = refusedIn(moved);
  if (refused.length > 0) throw new Error(`${file} holds what its policy refuses: ${refused.join(", ")}`);
  await writeFile(file, moved);
}

/** From the beginning of each script's first tag to that of its last. */
function inlineScripts(page: string): Array<{ readonly start: number; readonly end: number }> {
  const found: Array<{ start: number; end: number }> = [];
  let start: number | undefined;
  const parser = new Parser({
    onopentag(tag, { src }) {
      if (tag === "script" && src === undefined) start = parser.startIndex;
    },
    onclosetag(tag) {
      if (tag !== "script" || start === undefined) return;
      found.push({ start, end: parser.startIndex });
      start = undefined;
    },
  });
  parser.end(page);
  return found;
}

/** What the policy would refuse: inline scripts, styles and handlers, and whatever comes from elsewhere. */
function refusedIn(page: string): string[] {
  const found: string[] = [];
  const parser = new Parser({
    onopentag(tag, attributes) {
      const { src, href } = attributes;
      const place = LOADING.includes(tag) ? (src ?? href) : undefined;
      const isElsewhere = place !== undefined && !/^(?:\/docs\/|data:)/.test(place);
      const isInline = tag === "style" || (tag === "script" && src === undefined);
      const hasCode = Object.keys(attributes).some((name) => name === "style" || name.startsWith("on"));
      if (isElsewhere || isInline || hasCode) found.push(page.slice(parser.startIndex, parser.endIndex + 1));
    },
  });
  parser.end(page);
  return found;
}

const LOADING = ["script", "link", "img"];
