/** Comments keep to 110 columns, and point to other files with `@see` and a path that exists. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const MAX_COLUMNS = 110;
const COMMENT = /^\s*(?:\{?\/\*|\*|\/\/)/;
/** A file by its path or its bare name. */
const PATH = String.raw`(?<![\w/.-])[\w.-]+(?:/[\w.-]+)*\.(?:cjs|json|md|sh|sql|tsx?|ya?ml)\b`;
const POINTER = new RegExp(String.raw`(?<!@)\b(?:see|compare) \x60?${PATH}`, "i");

interface Comment {
  readonly place: string;
  readonly line: string;
}

const comments: Comment[] = globSync("{src,test,bench,scripts,console,clients}/**/*.{ts,tsx}", {
  cwd: ROOT,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path),
})
  .filter((path) => !path.endsWith("/schema.ts") || !path.startsWith("clients/"))
  .flatMap((path) =>
    readFileSync(join(ROOT, path), "utf8")
      .split("\n")
      .flatMap((line, at) => (COMMENT.test(line) ? [{ place: `${path}:${at + 1}`, line }] : [])),
  );
const placesOf = (broken: (line: string) => boolean): string[] =>
  comments.filter(({ line }) => broken(line)).map(({ place }) => place);

test("no line of a comment is longer than 110 columns", () => {
  expect(comments.length).toBeGreaterThan(1_000);
  expect(placesOf((line) => line.length > MAX_COLUMNS)).toEqual([]);
});

test("a comment points to a file with @see, not in a sentence", () => {
  expect(placesOf((line) => POINTER.test(line))).toEqual([]);
});

test("what @see points to is there", () => {
  const pathsOf = (line: string): string[] => {
    const [, pointed = ""] = /@see (.*)$/.exec(line) ?? [];
    return pointed.includes("://") ? [] : (pointed.match(new RegExp(PATH, "g")) ?? []);
  };
  expect(comments.flatMap(({ line }) => pathsOf(line)).length).toBeGreaterThan(50);
  expect(placesOf((line) => pathsOf(line).some((path) => !existsSync(join(ROOT, path))))).toEqual([]);
});
