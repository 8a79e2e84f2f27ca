/** Holds what documents say about the project's files: paths, links, and the tables of ARCHITECTURE.md. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ERROR_REASONS } from "../../src/domain/errors.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Decisions and the change log are history: they name files as they were, but tests as they are. */
const HISTORY = ["CHANGELOG.md", ...globSync("docs/decisions/*.md", { cwd: ROOT })];
/** This decision lists former paths of tests. */
const MOVED_TESTS = "docs/decisions/0017-tests-by-what-they-need.md";
const DOCUMENTS = globSync(["*.md", "docs/*.md", "docs/guide/*.md", "clients/*/README.md", ".github/*.md"], {
  cwd: ROOT,
}).filter((path) => !HISTORY.includes(path));
const FOLDERS = "src|test|docs|bench|charts|clients|demo|deploy|models|\\.ci|\\.github|\\.vscode";
/** Parts of a path that stand for something else. */
const PLACEHOLDER = /[<>*{}…]|NNNN|REF|\bx\./;
const BASENAMES = new Set(
  globSync("{src,test,bench,deploy,charts}/**/*.*", { cwd: ROOT }).map((path) => basename(path)),
);

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Paths in inline code: from the root, or the bare name of a source file. */
function pathsIn(text: string): string[] {
  const code = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, inline]) => inline!.split(/[\s:=,]+/));
  const isPath = new RegExp(`^(?:(?:${FOLDERS})/[\\w./-]+|[\\w-]+(?:\\.[\\w-]+)*\\.(?:ts|sql))$`);
  return code
    .map((word) => word.replace(/\/$/, ""))
    .filter((word) => isPath.test(word) && !PLACEHOLDER.test(word));
}

const isThere = (path: string): boolean =>
  path.includes("/") ? existsSync(join(ROOT, path)) : BASENAMES.has(path) || existsSync(join(ROOT, path));

/** Names of test files, in code or not, with as much of their path as is given; `x.test.ts` is any test. */
function testsIn(text: string): string[] {
  const found = [...text.matchAll(/(?<![\w./-])[\w./-]+\.test\.ts/g)].map(([path]) => path);
  return found.filter((path) => !/^x\.(?:[\w-]+\.)?test\.ts$/.test(path));
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-"),
  );
}

function brokenLinks(document: string): string[] {
  const links = [...read(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    // A page of the guide that is made for each code.
    const code = /^\/docs\/errors\/(\w+)$/.exec(link)?.[1];
    if (code !== undefined) return !Object.hasOwn(ERROR_REASONS, code);
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? document : join(dirname(document), path);
    if (!existsSync(join(ROOT, target))) return true;
    return (
      anchor !== undefined && statSync(join(ROOT, target)).isFile() && !anchorsOf(target).includes(anchor)
    );
  });
}

describe.each(DOCUMENTS)("%s", (document) => {
  test("names files that there are", () => {
    expect(pathsIn(read(document)).filter((path) => !isThere(path))).toEqual([]);
  });

  test("links to what there is", () => {
    expect(brokenLinks(document)).toEqual([]);
  });
});

test.each([...DOCUMENTS, ...HISTORY].filter((path) => path !== MOVED_TESTS))(
  "%s names tests that there are",
  (document) => {
    const missing = testsIn(read(document)).filter((path) => !isThere(path) && !isThere(`test/${path}`));
    expect(missing).toEqual([]);
  },
);

describe("ARCHITECTURE.md", () => {
  const rows = read("ARCHITECTURE.md")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.slice(1, -1).split("|"));
  const namesIn = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

  test.each(rows.filter(([number]) => /^ \d+ $/.test(number!)))(
    "step %s: %s has %s",
    (_number, file, functions) => {
      const source = namesIn(file)
        .filter(isThere)
        .filter((path) => path.endsWith(".ts"))
        .map(read)
        .join("\n");
      const isFunction = (name: string): boolean => /^[a-z]\w+$/.test(name);
      const missing = namesIn(functions).filter((name) => isFunction(name) && !source.includes(name));
      expect(source === "" ? [] : missing).toEqual([]);
    },
  );

  test("has at most fifteen words in its glossary", () => {
    const glossary = /^## Glossary\n(.*?)^## /ms.exec(read("ARCHITECTURE.md"))![1]!;
    expect(glossary.match(/^\| (?!word|-)/gm)?.length).toBeLessThanOrEqual(15);
  });

  test("lists the folders, and what each may import, as the lint has them", () => {
    const table = /MAY_IMPORT: Record<string, string\[\]> = (\{.*?^\});/ms.exec(
      read("oxlint.config.ts"),
    )![1]!;
    const json = table.replaceAll(/^ *(\w+):/gm, '"$1":').replaceAll(/,(\s*[\]}])/g, "$1");
    const mayImport = JSON.parse(json) as Record<string, string[]>;
    const isFolder = (name: string): boolean => existsSync(join(ROOT, "src", name));
    const folders = Object.keys(mayImport).filter(isFolder).toSorted();
    const described = rows.filter(
      (row) => row.length === 3 && namesIn(row[0]).length === 1 && folders.includes(namesIn(row[0])[0]!),
    );
    expect(described.map((row) => namesIn(row[0])[0]!).toSorted()).toEqual(folders);
    for (const [name, , imports] of described) {
      const folder = namesIn(name)[0]!;
      const held = mayImport[folder]!.filter((other) => other !== "domain" && isFolder(other));
      expect([folder, namesIn(imports).toSorted()]).toEqual([folder, held.toSorted()]);
    }
  });
});
