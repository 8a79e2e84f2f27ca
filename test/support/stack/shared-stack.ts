/**
 * The Holdfast that all test files of a vitest worker process share; no test may kill, fill or reconfigure
 * it.
 */
import { afterAll, beforeAll } from "vitest";
import { type TestIssuer, startIssuer } from "../servers/issuer.ts";
import { laterOf } from "../run/later.ts";
import type { TestProcess } from "./processes.ts";
import { provisionTenants } from "../tenants/provision.ts";
import { type Stack, startStack } from "./stack.ts";
import { type Tenants, newTenants } from "../tenants/tenants.ts";

export interface SharedStack extends Pick<
  Stack,
  "url" | "provider" | "temporalAddress" | "temporalUi" | "dataDir" | "env"
> {
  readonly database: Pick<Stack["database"], "db" | "url">;
  /** The issuer whose access tokens the stack accepts. */
  readonly issuer: TestIssuer;
  readonly api: Pick<TestProcess, "output">;
  readonly worker: Pick<TestProcess, "output">;
}

/** Small, so that a test reaches the limit with little data. */
const MAX_UPLOAD_BYTES = 4 * 1024 * 1024;

/** Ends with vitest's worker process, which is told to end when no file is left. */
let shared: Promise<SharedStack> | undefined;

async function start(): Promise<SharedStack> {
  const issuer = await startIssuer();
  const settings = {
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: issuer.audience,
    MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES),
  };
  const stack = await startStack({ withoutTenants: true, env: settings, hasTemporalUi: true });
  return Object.assign(stack, { issuer });
}

/**
 * Gives a test file tenants of its own in the stack of its worker process. Call it once, at the top of the
 * file; the stack's fields can be read from the file's first hook or test on. After the last test, the
 * provider is reset.
 */
export function onSharedStack(): { readonly stack: SharedStack; readonly tenants: Tenants } {
  const tenants = newTenants();
  const later = laterOf<SharedStack>("The shared stack");
  let started: SharedStack | undefined;
  beforeAll(async () => {
    shared ??= start();
    started = await shared;
    await provisionTenants(started.database.db, started.env, tenants);
    later.set(started);
  });
  afterAll(() => started?.provider.reset());
  return { stack: later.value, tenants };
}
