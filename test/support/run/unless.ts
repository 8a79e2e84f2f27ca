/** Skips a test that this machine cannot run; `not-run-reporter.ts` repeats the reasons when a run ends. */

declare module "vitest" {
  interface TaskMeta {
    /** Why the test was not run here. */
    notRun?: string;
  }
}

/**
 * Options of a test or a suite that needs something of the machine.
 * @param missing what the machine lacks; undefined if the test can run.
 * @example describe("on S3", unless(missingSeaweedfs), () => { … })
 */
export function unless(missing: string | undefined): { skip?: boolean; meta?: { notRun: string } } {
  return missing === undefined ? {} : { skip: true, meta: { notRun: missing } };
}

/** For tests of what only Linux has: namespaces, `/proc`, process groups that outlive their leader. */
export const UNLESS_LINUX = unless(process.platform === "linux" ? undefined : "needs Linux");
/** For tests that change to other users. */
export const UNLESS_ROOT = unless(process.getuid?.() === 0 ? undefined : "needs root");
