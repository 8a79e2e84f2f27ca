/** What the API and the worker must not load before they read their settings, and why. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
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

/** Neither process loads these at its start: each has large native parts or hundreds of modules. */
const ON_FIRST_USE: Record<string, string> = {
  "onnxruntime-node": "the local models run in threads, which are started with the first text",
  "@llamaindex/liteparse": "PDFs are parsed in processes of their own",
  sharp: "pictures are made in processes of their own",
  "@aws-sdk/client-s3": "only an object store of S3 needs it",
  "@google-cloud/storage": "only an object store of Google needs it",
  mathjs: "only a model that calls the calculator needs it",
};

interface Process {
  readonly main: string;
  /** Folders of `src` that this process has no use for, with the reason. */
  readonly folders: Record<string, string>;
  readonly packages: Record<string, string>;
}

const PROCESSES: Process[] = [
  {
    main: "src/worker/main.ts",
    folders: {
      api: "the worker answers no requests",
      commands: "what people change is changed by the API",
      queries: "what people ask is answered by the API",
      receipts: "receipts are signed by the API, which runs the turns",
      workflows: "Temporal runs their bundle in a sandbox",
      cli: "a process is no command",
      embedded: "`npm start` starts the worker, and not the other way round",
      backup: "backups are commands",
    },
    packages: {
      ...ON_FIRST_USE,
      koa: "no requests",
      "@fastify/busboy": "no uploads",
      "zod-openapi": "no routes",
    },
  },
  {
    main: "src/api/main.ts",
    folders: {
      worker: "the API runs the activities of chat turns only, on a worker of its own",
      "activities/(pipeline|operations|upkeep|webhooks)": "work that waits in queues is the worker's",
      chunkers: "documents are processed by the worker",
      "parsers/(archives|legacy|mail|office|pdf|text|web)": "documents are processed by the worker",
      workflows: "Temporal runs their bundle in a sandbox",
      cli: "a process is no command",
      embedded: "`npm start` starts the API, and not the other way round",
      backup: "backups are commands",
    },
    packages: {
      ...ON_FIRST_USE,
      "@e965/xlsx": "documents are processed by the worker",
      "word-extractor": "documents are processed by the worker",
      htmlparser2: "documents are processed by the worker",
      "postal-mime": "documents are processed by the worker",
      "csv-parse": "documents are processed by the worker",
    },
  },
];

test.each(PROCESSES)("$main loads nothing at its start that the process does not need", async (one) => {
  const modules = await modulesOf(one.main);
  const loadedFrom = (folder: string) => modules.filter((path) => new RegExp(`^${folder}/`).test(path));

  expect(modules).toContain(one.main);
  for (const [folder, reason] of Object.entries(one.folders))
    expect(loadedFrom(`src/${folder}`), reason).toEqual([]);
  for (const [name, reason] of Object.entries(one.packages))
    expect(loadedFrom(`(.*/)?node_modules/${name}`), reason).toEqual([]);
});

test("what must not be loaded is there", async () => {
  const { dependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const packages = PROCESSES.flatMap((one) => Object.keys(one.packages));
  expect(packages.filter((name) => !(name in dependencies))).toEqual([]);
  const folders = PROCESSES.flatMap((one) => Object.keys(one.folders)).flatMap((folder) => {
    const [, parent = folder, names = ""] = /^(.*)\((.*)\)$/.exec(folder) ?? [];
    return names.split("|").map((name) => join(ROOT, "src", parent, name));
  });
  expect(folders.filter((path) => !existsSync(path))).toEqual([]);
});
