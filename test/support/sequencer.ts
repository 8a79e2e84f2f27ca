/** The order of test files. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

const PROJECTS = ["stack", "database", "unit"];

/**
 * Files that start servers or processes of their own come first: they take longest and mostly wait, so that what is short fills the
 * gaps at the end. Those that share a stack follow, then those that need less. Otherwise as vitest orders them: what took
 * longest last time, or the largest file, first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ project, moduleId }: TestSpecification): number {
  return PROJECTS.indexOf(project.name) * 2 + (moduleId.endsWith(".own-stack.test.ts") ? 0 : 1);
}
