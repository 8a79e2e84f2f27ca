/**
 * Renders the chart with Helm for each file of values/, compares the result with golden/, and validates every
 * object against the schema of its kind. Run as `node test/chart/run.ts`; `--update` writes the result to
 * golden/ and the names of settings into the chart's schema.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { findHelm } from "./helm.ts";
import { createValidator, readManifests } from "./objects.ts";
import { REFUSED } from "./refused.ts";
import { writeEnvironmentProperties } from "./settings.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const CHART = join(ROOT, "charts/holdfast");
const VALUES = join(import.meta.dirname, "values");
const GOLDEN = join(import.meta.dirname, "golden");
const RENDER_MS = 60_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function render(helm: string, values: string): Promise<string> {
  const { stdout } = await run(
    helm,
    [
      "template",
      "holdfast",
      CHART,
      "--namespace",
      "holdfast",
      "--kube-version",
      "1.30.0",
      "--values",
      values,
    ],
    {
      timeout: RENDER_MS,
      maxBuffer: 16_000_000,
    },
  );
  return stdout;
}

/** Renders the values that must be refused. @returns those that were not, or with another message */
async function findUnrefused(helm: string, folder: string): Promise<string[]> {
  const wrong = await Promise.all(
    Object.entries(REFUSED).map(async ([name, { values, says }]) => {
      const path = join(folder, `${name.replaceAll(/\W+/g, "-")}.json`);
      await writeFile(path, JSON.stringify(values));
      const said = await render(helm, path).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (said === undefined) return [`${name}: was rendered`];
      return said.includes(says) ? [] : [`${name}: was refused with other words:\n${said}`];
    }),
  );
  return wrong.flat();
}

async function compare(name: string, rendered: string, isUpdate: boolean): Promise<string[]> {
  const path = join(GOLDEN, name);
  if (isUpdate) await writeFile(path, rendered);
  const golden = await readFile(path, "utf8").catch(() => "");
  if (golden === rendered) return [];
  const was = golden.split("\n");
  const is = rendered.split("\n");
  const line = is.findIndex((text, at) => text !== was[at]);
  return [
    `${name}: line ${line + 1} is "${is[line] ?? ""}", in golden/ "${was[line] ?? ""}" (--update takes ` +
      "what is rendered)",
  ];
}

async function main(isUpdate: boolean): Promise<void> {
  const problems: string[] = [];
  if (isUpdate) await writeEnvironmentProperties();
  const { command: helm, source } = await findHelm();
  say(`helm: ${(await run(helm, ["version", "--short"])).stdout.trim()} (${source})`);
  const names = (await readdir(VALUES)).filter((name) => name.endsWith(".yaml")).toSorted();
  const golden = (await readdir(GOLDEN)).filter((name) => !names.includes(name));
  problems.push(...golden.map((name) => `golden/${name} belongs to no values`));
  const validate = await createValidator();
  for (const name of names) {
    const values = join(VALUES, name);
    await run(helm, ["lint", "--strict", "--quiet", "--values", values, CHART], { timeout: RENDER_MS });
    const rendered = await render(helm, values);
    const manifests = readManifests(rendered);
    problems.push(...(await compare(name, rendered, isUpdate)), ...manifests.flatMap(validate));
    say(`${basename(name, ".yaml")}: ${manifests.length} objects rendered, linted, validated`);
  }
  const folder = await mkdtemp(join(tmpdir(), "holdfast-chart-"));
  try {
    problems.push(...(await findUnrefused(helm, folder)));
  } finally {
    await rm(folder, { recursive: true });
  }
  say(`${Object.keys(REFUSED).length} sets of values that must be refused`);
  for (const problem of problems) say(problem);
  if (problems.length > 0) throw new Error(`${problems.length} problems with charts/holdfast`);
}

const { values: options } = parseArgs({ options: { update: { type: "boolean", default: false } } });
try {
  await main(options.update);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
