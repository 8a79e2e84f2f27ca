/** Tests the package of clients/python from its wheel, in an empty environment, against a stack. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { programsOf } from "../../support/packages/readme.ts";
import { type PythonPackage, filesOf, installPythonPackage } from "../../support/packages/python-package.ts";
import {
  type Asked,
  type FaultyConnection,
  startFaultyConnection,
} from "../../support/servers/faulty-connection.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";

const CACHE = process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";
const README = join(import.meta.dirname, "../../../clients/python/README.md");
const PROGRAMS = join(import.meta.dirname, "../../support/packages");
/** Long, because the first run on a machine installs the tools. */
const SETUP_MS = 6 * 60_000;

const { stack, tenants } = onSharedStack();
let folder: string;
let holdfast: PythonPackage;
let connection: FaultyConnection;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-python-"));
  holdfast = await installPythonPackage(CACHE, folder);
  connection = await startFaultyConnection(stack.url);
}, SETUP_MS);
afterAll(async () => {
  await connection.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => connection.heal());

test("the wheel has both clients, the marker of types and the licence, and the sdist makes the same", async () => {
  const wheel = await filesOf(holdfast.wheel);
  const sdist = await filesOf(holdfast.sdist);
  const modules = [...wheel].filter(([name]) => name.startsWith("holdfast_client/"));

  expect(modules.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      "holdfast_client/py.typed",
      "holdfast_client/types.py",
      "holdfast_client/_async/client.py",
      "holdfast_client/_sync/client.py",
    ]),
  );
  expect([...wheel.keys()].some((name) => name.endsWith("licenses/LICENSE"))).toBe(true);
  for (const [name, hash] of modules) expect([name, sdist.get(`src/${name}`)]).toEqual([name, hash]);
  expect([...sdist.keys()]).toEqual(expect.arrayContaining(["pyproject.toml", "README.md", "LICENSE"]));
});

test.each([
  { program: "sync", fault: "lose the answer", times: 1 },
  { program: "async", fault: { status: 503, headers: { "retry-after": "0" }, body: "{}" }, times: 2 },
] as const)(
  "a program with the $program client does what its types say",
  async ({ program, fault, times }) => {
    stack.provider.replyAlways(() => ({ pieces: ["In shallow", " water [1]."] }));
    const asked: Asked[] = [];
    const isUpload = ({ method, url }: Asked): boolean => method === "POST" && url.endsWith("/data/upload");
    connection.failFirst(times, fault, (request) => {
      asked.push(request);
      return isUpload(request);
    });

    const startedAt = Date.now();

    const printed = await holdfast.run(join(PROGRAMS, `${program}_program.py`), [
      connection.origin,
      tenants.keys.owner,
      tenants.spaces.research,
      tenants.agents.analyst,
      folder,
    ]);

    const seen = JSON.parse(printed);
    const [id] = seen.document;
    expect(seen).toEqual({
      document: [id, program, "completed"],
      found: [id],
      answer: ["In shallow water [1].", true, true],
      event: [id, true],
      polled: id,
      many: [12, true],
      chunks: [expect.stringContaining("Herons stand in shallow water")],
      spaces: expect.arrayContaining(["Archive", "Research"]),
      "not found": [404, "document_not_found", true],
      "bad request": [422, "space_id"],
      failed: [null, "corrupt", true],
      "not signed in": [401, "invalid_api_key"],
    });
    // One document, though it was sent several times.
    const keys = asked.filter(isUpload).map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys.slice(0, times + 1)).size).toBe(1);
    expect(new Set(keys).size).toBe(keys.length - times);
    const streams = asked.filter(({ url }) => url.startsWith("/v1/events/stream"));
    // A wait after a pause may have a stream of its own, but not each document; and one is read when it
    // ended.
    expect(streams.length).toBeLessThanOrEqual(6);
    const reads = asked.filter(({ method, url }) => method === "GET" && /^\/v1\/data\/[^/]+$/.test(url));
    expect(reads.filter(({ url }) => url.includes("wait="))).toEqual([]);
    // Each of 15 once, and one of them every minute.
    expect(reads.length).toBeLessThanOrEqual(15 + (Date.now() - startedAt) / 60_000);
  },
);

test("the programs of the README are typed, and do what it says", async () => {
  stack.provider.replyAlways(() => ({ pieces: ["Mineral", " oil [1]."] }));
  const programs: string[] = [];
  for (const [index, text] of (await programsOf(README, "python")).entries()) {
    programs.push(join(folder, "work", `readme_${index}.py`));
    await writeFile(programs[index]!, text);
  }
  await writeFile(join(folder, "work/gearbox.md"), "# Gearbox\n\nThe gearbox takes mineral oil.\n");
  const env = {
    HOLDFAST_URL: stack.url,
    HOLDFAST_KEY: tenants.keys.owner,
    HOLDFAST_SPACE: tenants.spaces.research,
    HOLDFAST_AGENT: tenants.agents.analyst,
  };

  expect(await holdfast.check(...programs)).toEqual([]);
  const printed = [];
  for (const program of programs) printed.push(await holdfast.run(program, [], env));

  expect(printed).toHaveLength(3);
  expect(printed[0]).toMatch(/^gearbox\.md 0\.\d+ .*mineral oil/s);
  expect(printed[0]).toContain("Mineral oil [1]. ['gearbox.md']");
  expect(printed[0]).toMatch(/ 1 True$/m);
  expect(printed[1]).toMatch(/^(?:[0-9a-f-]{36} True\n){3}$/);
  expect(printed[2]).toBe("no such agent: model_not_found\n");
});

test("a type checker takes both programs, and refuses what is of another type", async () => {
  const wrong = join(PROGRAMS, "wrong_program.py");
  const lines = (await readFile(wrong, "utf8")).split("\n");
  const expected = lines.flatMap((line, index) => (/\bwrong\w*(?::| =|=)/.test(line) ? [index + 1] : []));

  const errors = await holdfast.check(
    wrong,
    join(PROGRAMS, "sync_program.py"),
    join(PROGRAMS, "async_program.py"),
  );

  expect(expected).toHaveLength(5);
  expect(errors.map((error) => Number(/wrong_program\.py:(\d+):/.exec(error)?.[1]))).toEqual(expected);
});
