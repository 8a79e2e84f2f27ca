/**
 * `npm run nightly`: what takes too long for each change, in parts, one after the other. Prints a table of
 * them at the end, and exits with 1 if one failed. `--only drill,soak` runs these parts.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { Command } from "commander";

interface Part {
  readonly name: string;
  readonly what: string;
  /** Arguments of npm. */
  readonly commands: readonly (readonly string[])[];
  /** Whether its commands run at the same time; otherwise one after the other. */
  readonly areSideBySide?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

const drill = (...options: string[]): string[] => [
  "run",
  "--silent",
  "drill",
  "--",
  "--repeat-late",
  ...options,
];
const vitest = (...options: string[]): string[] => ["exec", "--", "vitest", "run", ...options];

/** Five other seeds than the tests have; the first is another one each day. */
const SEEDS = [String(Math.floor(Date.now() / 86_400_000)), "7", "101", "1009", "10007"];

const PARTS: readonly Part[] = [
  {
    name: "tests",
    what: "the image, packages of clients, snippets of every language, rolling restarts, dependencies away, screens",
    commands: [vitest("--project", "nightly")],
  },
  {
    name: "fuzz",
    what: "400 generated requests for each operation and each tool of MCP",
    commands: [vitest("test/contract/properties.stack.test.ts", "test/api/mcp/fuzz.stack.test.ts")],
    env: { FUZZ_RUNS: "400" },
  },
  {
    name: "cost",
    what: "every shape of input at every place, up to 128 KiB before it costs 50 ms",
    commands: [["run", "--silent", "cost", "--", "--longest", "128", "--shown", "3"]],
  },
  {
    name: "schemathesis",
    what: `seeds ${SEEDS.join(", ")}`,
    commands: SEEDS.map((seed) => [
      "run",
      "--silent",
      "schemathesis",
      "--",
      "--examples",
      "10",
      "--phases",
      "examples,fuzzing",
      "--seed",
      seed,
    ]),
  },
  {
    name: "chart",
    what: "the chart by Helm, fetched or built with Go, against its golden files",
    commands: [["run", "--silent", "check:chart"]],
  },
  {
    name: "drill",
    what: "every fault at every step, then random ones",
    commands: [drill("--long", "--shard", "1/2"), drill("--long", "--shard", "2/2")],
    areSideBySide: true,
  },
  { name: "drill on S3", what: "one fault a step, objects in a bucket", commands: [drill("--store", "s3")] },
  {
    name: "soak",
    what: "ten minutes of uploads, searches and chats",
    commands: [["run", "--silent", "bench:soak", "--", "--minutes", "10", "--rate", "10"]],
  },
];

/** @returns whether the command ended with 0. What it prints goes to this process's output. */
async function succeeds(command: readonly string[], env: Part["env"]): Promise<boolean> {
  process.stdout.write(`-- npm ${command.join(" ")}\n`);
  const child = spawn("npm", command, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, CI: "true", ...env },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code === 0;
}

/** @returns whether all of its commands succeeded; a failure does not keep the others from running. */
async function runPart({ commands, areSideBySide = false, env }: Part): Promise<boolean> {
  let isGood = true;
  for (const group of areSideBySide ? [commands] : commands.map((command) => [command])) {
    const outcomes = await Promise.all(group.map((command) => succeeds(command, env)));
    isGood &&= outcomes.every(Boolean);
  }
  return isGood;
}

async function run({ only }: { readonly only?: string }): Promise<void> {
  const names = only?.split(",");
  const unknown = names?.filter((name) => !PARTS.some((part) => part.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`Parts: ${PARTS.map(({ name }) => name).join(", ")}`);
  const rows: string[] = [];
  let failed = 0;
  for (const part of PARTS.filter(({ name }) => names?.includes(name) ?? true)) {
    process.stdout.write(`\n== ${part.name}: ${part.what}\n`);
    const startedAt = performance.now();
    const isGood = await runPart(part);
    if (!isGood) failed += 1;
    const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
    rows.push(`| ${part.name} | ${part.what} | ${minutes} | ${isGood ? "passed" : "failed"} |`);
  }
  process.stdout.write(
    `\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}\n\n` +
      `| part | what | minutes | |\n|---|---|---|---|\n${rows.join("\n")}\n`,
  );
  process.exitCode = failed === 0 ? 0 : 1;
}

await new Command("nightly")
  .option("--only <names>", "these parts, separated by commas")
  .action(run)
  .parseAsync();
