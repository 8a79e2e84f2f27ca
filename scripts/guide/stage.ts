/** Fills a folder with the pages of the guide: those of docs/, and those made of the API and its errors. */
import { cp, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorPages } from "./error-pages.ts";
import { GROUPS, HOME, pageOf } from "./pages.ts";
import { type ApiDocument, referencePages } from "./reference/pages.ts";

/** Tables of many columns take the room of the outline. */
const LOOKS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [HOME]: { title: "Guide" },
  "settings.md": { aside: false, pageClass: "wide" },
};

/** The folders of docs/ that have pictures. */
const PICTURES = [".", "console"];

/** A page that a script makes. */
export interface MadePage {
  /** Below /docs, with `.md`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
  /** Further front matter of VitePress. */
  readonly look?: Readonly<Record<string, unknown>>;
}

interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly SidebarItem[];
}

/**
 * @param docs the folder docs/
 * @param folder is made, with VitePress's configuration in it
 */
export async function stage(docs: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await cp(join(docs, ".vitepress"), join(folder, ".vitepress"), { recursive: true });
  await cp(join(docs, ".vitepress/public"), join(folder, "public"), { recursive: true });
  await cp(join(docs, "openapi.json"), join(folder, "public/openapi.json"));
  for (const place of PICTURES)
    for (const file of await readdir(join(docs, place)))
      if (/\.(svg|png)$/.test(file)) await cp(join(docs, place, file), join(folder, place, file));

  const api = JSON.parse(await readFile(join(docs, "openapi.json"), "utf8")) as ApiDocument;
  const reference = referencePages(api);
  const made = [...reference, ...errorPages()];
  const copied = [HOME, ...GROUPS.flatMap(({ sources }) => sources)];
  const titles = new Map<string, string>();
  const sources: Record<string, string> = {};
  for (const source of copied) {
    const text = withoutComments(await readFile(join(docs, source), "utf8"));
    titles.set(source, titleOf(text, source));
    sources[pageOf(source)] = source;
    await write(join(folder, pageOf(source)), withLook(text, LOOKS[source] ?? {}));
  }
  for (const { path, title, text, look } of made)
    await write(join(folder, path), withLook(text, { title, ...look }));

  const item = (text: string, page: string): SidebarItem => ({ text, link: linkOf(page) });
  const groups = GROUPS.map(({ title, isCollapsed, sources: pages }) => ({
    text: title,
    ...(isCollapsed === undefined ? {} : { collapsed: isCollapsed }),
    items: pages.map((source) => item(titles.get(source)!, pageOf(source))),
  }));
  const sidebar: SidebarItem[] = [
    ...groups,
    { text: "Reference", collapsed: true, items: reference.map(({ title, path }) => item(title, path)) },
  ];
  await writeFile(join(folder, ".vitepress/staged.json"), JSON.stringify({ sidebar, sources }));
  await writeFile(join(folder, "package.json"), '{"type":"module"}\n');
}

/** JSON is YAML too. */
const withLook = (text: string, look: Readonly<Record<string, unknown>>): string =>
  `---\n${JSON.stringify(look)}\n---\n\n${text}`;

/** Notes to tests and to those who edit a file; pages have no HTML. */
const withoutComments = (text: string): string => text.replaceAll(/^<!--.*?-->\n/gms, "");

const linkOf = (page: string): string => `/${page.replace(/^index\.md$|\.md$/, "")}`;

function titleOf(text: string, source: string): string {
  const title = /^# (.+)$/m.exec(text)?.[1];
  if (title === undefined) throw new Error(`docs/${source} has no heading`);
  return title.replaceAll("`", "");
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
