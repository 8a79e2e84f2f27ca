/**
 * `npm run cost` runs every subject on every shape, with longer inputs than the tests, measures time and
 * memory, and prints what cost most and what grew too fast.
 */
import { cpus, loadavg } from "node:os";
import { Command, Option } from "commander";
import { FAMILY_NAMES, type FamilyName } from "./families.ts";
import { type Measured, measureFamily, MOST_GROWTH, type Sizes } from "./measure.ts";

interface Options {
  readonly family?: FamilyName;
  readonly extent: "some" | "all";
  readonly longest: string;
  readonly shown: string;
}

const MEGABYTE = 1024 * 1024;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function row({ subject, shape, longest, growth }: Measured): string {
  const size = longest === undefined ? "–" : `${(longest.length / 1024).toFixed(0)}`;
  const costs =
    longest === undefined
      ? "– | –"
      : `${longest.cpuMs.toFixed(0)} | ${(longest.heapBytes / MEGABYTE).toFixed(0)}`;
  return (
    `| ${subject} | ${shape.replaceAll("|", "\\|")} | ${size} | ${costs} | ` +
    `${growth === undefined ? "–" : growth.toFixed(2)} | ${longest?.end ?? "hangs"} |`
  );
}

async function run({ family, extent, longest, shown }: Options): Promise<void> {
  const sizes: Sizes = {
    extent,
    lengths: [4_096, 65_536, Number(longest) * 1024],
    telling: 50,
    retries: 3,
    deadlineMs: 120_000,
  };
  say(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; load ` +
      `${loadavg()[0]!.toFixed(1)}; growth per doubling of the input, at most ${MOST_GROWTH}`,
  );
  const bad: Measured[] = [];
  for (const name of family === undefined ? FAMILY_NAMES : [family]) {
    const all: Measured[] = [];
    for await (const measured of measureFamily(name, sizes)) all.push(measured);
    const dearest = all
      .toSorted((one, other) => (other.longest?.cpuMs ?? Infinity) - (one.longest?.cpuMs ?? Infinity))
      .slice(0, Number(shown));
    say(
      `\n${name}: ${all.length} pairs of a subject and a shape; those that cost most:\n\n| subject | ` +
        "shape | KB | processor (ms) | heap (MB) | growth | end |\n|---|---|---|---|---|---|---|",
    );
    for (const one of dearest) say(row(one));
    bad.push(...all.filter(({ faults }) => faults.length > 0));
  }
  say("");
  for (const { subject, shape, faults } of bad) say(`wrong: ${subject} on ${shape}: ${faults.join("; ")}`);
  say(
    bad.length === 0
      ? "Everything costs what its size allows."
      : `${bad.length} pairs cost more than their size allows.`,
  );
  process.exitCode = bad.length === 0 ? 0 : 1;
}

await new Command("cost")
  .description(
    "What generated shapes of input cost each parser, chunker, analyzer, tokenizer, tool and request " +
      "schema: time, memory, growth.",
  )
  .addOption(new Option("--family <name>", "one of them only").choices([...FAMILY_NAMES, "seeded"]))
  .addOption(new Option("--extent <extent>", "of the shapes").choices(["some", "all"]).default("all"))
  .option(
    "--longest <kilobytes>",
    "the longest input that is tried before it costs 50 ms; four times as much after that",
    "1024",
  )
  .option("--shown <number>", "rows of each family", "10")
  .action(run)
  .parseAsync();
