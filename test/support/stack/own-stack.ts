/** Gives a test file a Holdfast of its own, for tests that kill, fill or reconfigure it. */
import { afterAll, beforeAll } from "vitest";
import { laterOf } from "../run/later.ts";
import { type Stack, type StackOptions, startStack } from "./stack.ts";
import { TENANTS, type Tenants } from "../tenants/tenants.ts";

/**
 * Starts the stack before the file's first test and closes it after the last. Call it once, at the top of a
 * file.
 */
export function onOwnStack(options: StackOptions = {}): { readonly stack: Stack; readonly tenants: Tenants } {
  const later = laterOf<Stack>("The stack");
  let started: Stack | undefined;
  beforeAll(async () => {
    started = await startStack(options);
    later.set(started);
  });
  afterAll(() => started?.close());
  return { stack: later.value, tenants: TENANTS };
}
