/** The project's documents match the project's files. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const DOCUMENTS = globSync(["*.md", "docs/**/*.md", "clients/**/*.md"], {
  cwd: ROOT,
  exclude: ["**/node_modules/**"],
});
/** This document lists former paths of tests. */
const HISTORY = "docs/decisions/0017-tests-by-what-they-need.md";

const TESTS = globSync("test/**/*.test.ts", { cwd: ROOT });
const NAMES = new Set(TESTS.map((path) => basename(path)));

/**
 * Finds names of test files in a text, with as much of their path as is given; `x.test.ts` stands for any
 * test.
 */
function testsIn(text: string): string[] {
  const found = [...text.matchAll(/(?<![\w./-])[\w./-]+\.test\.ts/g)].map(([path]) => path);
  return found.filter((path) => !/^x\.(?:[\w-]+\.)?test\.ts$/.test(path));
}

test.each(DOCUMENTS.filter((document) => document !== HISTORY))(
  "%s names tests that there are",
  (document) => {
    const isThere = (path: string): boolean =>
      existsSync(join(ROOT, path)) ||
      existsSync(join(ROOT, "test", path)) ||
      (!path.includes("/") && NAMES.has(path));
    expect(testsIn(readFileSync(join(ROOT, document), "utf8")).filter((path) => !isThere(path))).toEqual([]);
  },
);
