/** The order of test files. */
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { seeded } from "../seeded.ts";

const PROJECTS = ["nightly", "stack", "process", "database", "unit"];

/**
 * Puts files that start servers or processes of their own first: they take longest and mostly wait, so short
 * files fill the gaps at the end. Files that share a stack follow, then files that need less. Within each
 * kind the order is vitest's: slowest first, as measured last time, or largest first. `TEST_SHUFFLE=7 npm
 * test` shuffles each kind with that seed.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const seed = process.env["TEST_SHUFFLE"];
    const ordered = seed === undefined ? sorted : shuffled(sorted, Number(seed));
    return ordered.toSorted((a, b) => rank(a) - rank(b));
  }
}

function shuffled(files: readonly TestSpecification[], seed: number): TestSpecification[] {
  const random = seeded(seed);
  const places = new Map(files.map((file) => [file, random()]));
  return files.toSorted((a, b) => places.get(a)! - places.get(b)!);
}

/** Share a stack of their own, which takes processor time from its start to the last file that needs one. */
const CONSOLE = /\/test\/console\/\w+\.stack\.test\.ts$/;

function rank({ project, moduleId }: TestSpecification): number {
  const within = moduleId.endsWith(".own-stack.test.ts") ? 0 : CONSOLE.test(moduleId) ? 2 : 1;
  return PROJECTS.indexOf(project.name) * 3 + within;
}
