/** The two processes load no modules that they do not need, before they read their settings. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const LISTING = join(ROOT, "test/support/processes/list-modules.ts");

/**
 * A process without settings loads everything that its main file imports, and ends with the list of settings
 * that it lacks.
 */
async function modulesOf(main: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-modules-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "modules");
  const { promise, resolve } = Promise.withResolvers<void>();
  execFile(process.execPath, ["--import", LISTING, join(ROOT, main)], { env: { MODULES_FILE: file } }, () =>
    resolve(),
  );
  await promise;
  const output = await readFile(file, "utf8");
  return output
    .split("\n")
    .filter((url) => url.startsWith("file:"))
    .map((url) => relative(ROOT, fileURLToPath(url)));
}

const ours = (modules: readonly string[]): string[] => modules.filter((path) => path.startsWith("src/"));

const packages = (modules: readonly string[]): Set<string> =>
  new Set(
    modules.flatMap(
      (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(path)?.[1] ?? [],
    ),
  );

test("the worker loads nothing of the API, and no more modules than it needs", async () => {
  const modules = await modulesOf("src/worker/main.ts");

  expect(ours(modules)).toContain("src/worker/main.ts");
  expect(
    ours(modules).filter((path) => /^src\/(api|commands|queries|cli|embedded|backup)\//.test(path)),
  ).toEqual([]);
  expect(packages(modules)).not.toContain("koa");
  expect(ours(modules).length).toBeLessThanOrEqual(431);
});

test("the API loads nothing of the worker, and of its activities only those of chat turns", async () => {
  const modules = await modulesOf("src/api/main.ts");

  expect(ours(modules)).toContain("src/api/main.ts");
  expect(ours(modules).filter((path) => /^src\/(worker|chunkers|cli|embedded|backup)\//.test(path))).toEqual(
    [],
  );
  expect(ours(modules).filter((path) => path.startsWith("src/activities/"))).toEqual([
    "src/activities/chat.ts",
    "src/activities/heartbeat.ts",
    "src/activities/tools.ts",
  ]);
  expect(ours(modules).length).toBeLessThanOrEqual(712);
});
