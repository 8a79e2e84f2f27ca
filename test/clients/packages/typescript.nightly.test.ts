/** Tests the package of clients/typescript from its tarball, in an empty project, against a stack. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programsOf } from "../../support/packages/readme.ts";
import {
  type EmptyProject,
  installTypescriptPackage,
  writeSources,
} from "../../support/packages/typescript-package.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const PROGRAMS = join(import.meta.dirname, "../../support/packages");
const README = join(import.meta.dirname, "../../../clients/typescript/README.md");
/** Long, because the first run on a machine fetches packages. */
const SETUP_MS = 5 * 60_000;
const NODE = { target: "es2023", lib: ["es2023"], types: ["node"], outDir: "out" };
const BROWSER = { target: "es2023", lib: ["es2023", "dom", "dom.iterable"], types: [], outDir: "web" };
const run = promisify(execFile);

const { stack, tenants } = onSharedStack();
let project: EmptyProject;

beforeAll(async () => {
  project = await installTypescriptPackage(await mkdtemp(join(tmpdir(), "holdfast-typescript-")));
}, SETUP_MS);
afterAll(() => rm(project.folder, { recursive: true, force: true }));

/** Runs a compiled program with what the README's programs take from the environment. */
async function runProgram(name: string): Promise<string> {
  const env = {
    PATH: process.env["PATH"],
    HOLDFAST_URL: stack.url,
    HOLDFAST_KEY: tenants.keys.owner,
    HOLDFAST_SPACE: tenants.spaces.research,
    HOLDFAST_AGENT: tenants.agents.analyst,
  };
  return (await run(process.execPath, [join("out", name)], { cwd: project.folder, env })).stdout;
}

test("the tarball has the types of all modules, the readme and the licence", () => {
  const modules = project.packed.filter((path) => path.endsWith(".js"));

  expect(modules).toEqual(expect.arrayContaining(["dist/index.js", "dist/schema.js"]));
  expect(project.packed).toEqual(
    expect.arrayContaining(["README.md", "LICENSE", ...modules.map((path) => path.replace(/js$/, "d.ts"))]),
  );
});

test.each(["5", "7"] as const)(
  "TypeScript %s takes what is of its type and nothing else",
  async (version) => {
    const wrong = await readFile(join(PROGRAMS, "wrong-program.ts.txt"), "utf8");
    const program = await readFile(join(PROGRAMS, "program.ts.txt"), "utf8");
    await rm(join(project.folder, "src"), { recursive: true, force: true });
    await writeSources(project.folder, { "wrong.ts": wrong, "program.ts": program });
    const expected = wrong
      .split("\n")
      .flatMap((line, index) => (line.includes("// wrong") ? [index + 1] : []));

    for (const options of [NODE, BROWSER]) {
      const errors = await project.compile(version, { ...options, noEmit: true });

      expect(expected.length).toBeGreaterThan(4);
      expect(errors.map((error) => Number(/wrong\.ts\((\d+),/.exec(error)?.[1]))).toEqual(expected);
    }
  },
);

test("the programs of the README compile, and do what it says", async () => {
  stack.provider.replyAlways(() => ({ pieces: ["Mineral", " oil [1]."] }));
  const programs = await programsOf(README, "ts");
  const sources = Object.fromEntries(programs.map((text, index) => [`readme-${index}.ts`, text]));
  await rm(join(project.folder, "src"), { recursive: true, force: true });
  await writeSources(project.folder, sources);
  await writeFile(join(project.folder, "gearbox.md"), "# Gearbox\n\nThe gearbox takes mineral oil.\n");

  expect(await project.compile("5", NODE)).toEqual([]);
  const printed = [];
  for (const name of Object.keys(sources)) printed.push(await runProgram(name.replace(/ts$/, "js")));

  expect(printed).toHaveLength(2);
  expect(printed[0]).toMatch(/^gearbox\.md 0\.\d+ .*mineral oil/s);
  expect(printed[0]).toContain("Mineral oil [1]. [ 'gearbox.md' ]");
  expect(printed[0]).toMatch(/ 1 true$/m);
  expect(printed[1]).toBe("no such agent: model_not_found\n");
});

test("a program bundles for browsers, and runs with what browsers have alone", async () => {
  stack.provider.replyAlways(() => ({ pieces: ["In shallow", " water [1]."] }));
  const program = await readFile(join(PROGRAMS, "program.ts.txt"), "utf8");
  await rm(join(project.folder, "src"), { recursive: true, force: true });
  await writeSources(project.folder, { "program.ts": program });
  expect(await project.compile("5", BROWSER)).toEqual([]);

  const bundle = await rolldown({ input: join(project.folder, "web/program.js"), platform: "browser" });
  const { output } = await bundle.generate({ format: "iife", name: "program" });
  const [{ code, imports, dynamicImports }] = output;
  expect([output.length, imports, dynamicImports]).toEqual([1, [], []]);
  // None of Node's own globals: no process, no Buffer, no require.
  const web = { fetch, Request, Response, Headers, FormData, Blob, URL, URLSearchParams, AbortController };
  const more = { TextEncoder, TextDecoder, crypto, setTimeout, clearTimeout, setInterval, clearInterval };
  const context = createContext({ ...web, ...more, TypeError });
  runInContext(code, context);
  const config = {
    baseUrl: stack.url,
    credential: tenants.keys.owner,
    spaceId: tenants.spaces.research,
    agent: tenants.agents.analyst,
  };
  const seen = await (context["program"] as { main(options: typeof config): Promise<unknown> }).main(config);

  const { document } = seen as { document: string };
  expect(seen).toEqual({
    document,
    uploaded: expect.any(String),
    found: [document],
    answer: "In shallow water [1].",
    cited: [expect.stringMatching(/\.md$/)],
    event: document,
    listed: true,
    chunks: 1,
    isModel: true,
    refused: ["NotFoundError", 404, "document_not_found"],
    failed: "corrupt",
  });
});
