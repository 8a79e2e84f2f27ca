/** Dependencies run no install scripts that are not listed, and have exact versions. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const read = (name: string): Record<string, any> =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../..", name), "utf8"));
const { dependencies, devDependencies, optionalDependencies, allowScripts } = read("package.json");
const { packages } = read("package-lock.json") as {
  packages: Record<string, { hasInstallScript?: boolean; integrity?: string; link?: boolean }>;
};

test("every package with an install script is listed, with whether it may run", () => {
  const withScript = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript === true ? [path.split("node_modules/").at(-1)!] : [],
  );
  expect([...new Set(withScript)].filter((name) => !(name in allowScripts))).toEqual([]);
});

test("dependencies have exact versions, and the lock file a hash for each", () => {
  const versions = Object.values({
    ...dependencies,
    ...devDependencies,
    ...optionalDependencies,
  }) as string[];
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  expect(
    Object.entries(packages).flatMap(([path, { integrity, link }]) =>
      path.includes("node_modules/") && link !== true && integrity === undefined ? [path] : [],
    ),
  ).toEqual([]);
});
