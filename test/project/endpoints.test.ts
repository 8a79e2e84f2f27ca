/** Names what a new endpoint or command still lacks, without a server and so within seconds. */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { MCP_METHODS } from "../../src/api/mcp/methods.ts";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { TOOL_IDS } from "../../src/domain/tool-ids.ts";
import {
  METHODS_OF_MCP,
  OPENING_ROUTES,
  OTHER_ROUTES,
  QUOTING_ROUTES,
  STREAMING_ROUTES,
  TOOLS_OF_AGENTS,
} from "../support/matrix/content-doors.ts";
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

test("test/support/matrix/content-doors.ts says of every endpoint, tool and method what it answers", () => {
  const routes = [...OPENING_ROUTES, ...QUOTING_ROUTES, ...STREAMING_ROUTES, ...OTHER_ROUTES];

  expect(routes.toSorted()).toEqual(
    API_ROUTES.map(({ method, fullPath }) => `${method} ${fullPath}`).toSorted(),
  );
  expect(Object.keys(TOOLS_OF_AGENTS)).toEqual([...TOOL_IDS]);
  expect(Object.keys(METHODS_OF_MCP)).toEqual(MCP_METHODS);
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
