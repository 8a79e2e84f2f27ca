/** The guide's TypeScript is right for a strict compiler, with the types of the client and of packages. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PAGES, type Snippet, snippetsOf } from "../../support/docs/guide-pages.ts";

const ROOT = join(import.meta.dirname, "../../..");
const OPTIONS = {
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  target: "es2024",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2024", "esnext.disposable", "dom"],
  types: ["node"],
  allowImportingTsExtensions: true,
  paths: { "@holdfast/client": [join(ROOT, "clients/typescript/src/index.ts")] },
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-types-"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const setUp = snippetsOf("quick-start", "ts").filter(({ heading }) => heading === "Set up");

/** The recipes are programs by themselves, so they have a file each. */
function programsOf(page: string): Snippet[][] {
  const snippets = snippetsOf(page, "ts");
  if (page === "recipes") return snippets.map((snippet) => [snippet]);
  return snippets.length === 0 ? [] : [page === "quick-start" ? snippets : [...setUp, ...snippets]];
}

test("the compiler finds nothing wrong in any page", async () => {
  const programs = [...PAGES, "../events"].flatMap(programsOf);
  expect(programs.length).toBeGreaterThan(9);
  const files = await Promise.all(
    programs.map(async (snippets) => {
      const { page, line } = snippets.at(-1)!;
      const file = `${basename(page)}-${line}.ts`;
      const code = snippets.map((snippet) => snippet.code).join("\n");
      await writeFile(join(folder, file), `${code}\nexport {};\n`);
      return file;
    }),
  );
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: OPTIONS, files }));
  expect(await compile()).toBe("");
});

function compile(): Promise<string> {
  const program = join(ROOT, "node_modules/.bin/tsc");
  return new Promise((resolve, reject) => {
    execFile(program, ["-p", folder, "--pretty", "false"], { cwd: folder }, (error, stdout, stderr) => {
      // It ends with a number if it found faults, and without one if it did not run.
      if (error !== null && typeof error.code !== "number") reject(error);
      else resolve(error === null ? "" : stdout + stderr);
    });
  });
}
