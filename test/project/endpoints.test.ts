/** Names what a new endpoint or command still lacks, without a server and so within seconds. */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { RULES_OF_BATCHES, RULES_OF_ROUTES } from "../support/matrix/rules.ts";

const ROOT = join(import.meta.dirname, "../..");

const textOf = (pattern: string): string =>
  globSync(pattern, { cwd: ROOT })
    .map((path) => readFileSync(join(ROOT, path), "utf8"))
    .join("\n");

/** The function that a command's file is named for: `createFolder` of `create-folder.ts`. */
const functionOf = (path: string): string =>
  basename(path, ".ts").replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

test("test/support/matrix/rules.ts has a row for every endpoint that is not public", () => {
  const routes = API_ROUTES.filter(({ access }) => access !== "public").map(
    ({ method, fullPath }) => `${method} ${fullPath}`,
  );

  expect([...Object.keys(RULES_OF_ROUTES), ...Object.keys(RULES_OF_BATCHES)].toSorted()).toEqual(
    routes.toSorted(),
  );
});

test("the tests of its subject call every command", () => {
  const callers = textOf("src/{api,cli}/**/*.ts");
  // What only commands import is a part of them, and is tested through them.
  const commands = globSync("src/commands/*/*-*.ts", { cwd: ROOT }).filter(
    (path) =>
      callers.includes(path.slice("src/".length)) && textOf(path).includes(`function ${functionOf(path)}(`),
  );
  const untested = commands.filter(
    (path) => !textOf(`test/commands/${basename(dirname(path))}/*.ts`).includes(`${functionOf(path)}(`),
  );

  expect(commands.length).toBeGreaterThan(25);
  expect(untested).toEqual([]);
});
