/** The order of test files. */
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { seeded } from "../seeded.ts";

const PROJECTS = ["stack", "database", "unit"];

/**
 * Files that start servers or processes of their own come first: they take longest and mostly wait, so that what is short
 * fills the gaps at the end. Those that share a stack follow, and the cost test with them, then those that need less. Otherwise as vitest orders them:
 * what took longest last time, or the largest file, first. `TEST_SHUFFLE=7 npm test` mixes those of one kind by that seed.
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

/** It keeps one core busy for longer than all that needs no server together: begun last, it would be alone. */
const BUSY = "/test/cost/cost.test.ts";

function rank({ project, moduleId }: TestSpecification): number {
  if (moduleId.endsWith(BUSY)) return 1;
  return PROJECTS.indexOf(project.name) * 2 + (moduleId.endsWith(".own-stack.test.ts") ? 0 : 1);
}
