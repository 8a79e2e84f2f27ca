/** The Holdfast that the test files of one worker process share: no test kills, fills or reconfigures it. */
import { afterAll, beforeAll } from "vitest";
import { type TestIssuer, startIssuer } from "./issuer.ts";
import type { TestProcess } from "./processes.ts";
import { provisionTenants } from "./provision.ts";
import { type Stack, startStack } from "./stack.ts";
import { type Tenants, newTenants } from "./tenants.ts";

export interface SharedStack extends Pick<Stack, "url" | "provider" | "temporalAddress" | "dataDir" | "env"> {
  readonly database: Pick<Stack["database"], "db" | "url">;
  /** The stack accepts its access tokens. */
  readonly issuer: TestIssuer;
  readonly api: Pick<TestProcess, "output">;
  readonly worker: Pick<TestProcess, "output">;
}

/** Small, so that the limit can be tried with little. */
const MAX_UPLOAD_BYTES = 4 * 1024 * 1024;

let shared: Promise<SharedStack> | undefined;

async function start(): Promise<SharedStack> {
  const issuer = await startIssuer();
  const settings = { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience, MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES) };
  const stack = await startStack({ withoutTenants: true, env: settings });
  // The worker process of the test run is told to end when no file is left; its set-up removes the data.
  process.once("SIGTERM", () => {
    stack.killAll();
    process.exit(0);
  });
  return Object.assign(stack, { issuer });
}

/**
 * Gives a test file tenants of its own in the stack of its worker process; call it once, at the top of the file. The
 * stack's fields can be read once the file's first hook or test runs. Behind the last test the provider forgets what
 * the file has told it.
 */
export function onSharedStack(): { readonly stack: SharedStack; readonly tenants: Tenants } {
  const tenants = newTenants();
  let started: SharedStack | undefined;
  beforeAll(async () => {
    shared ??= start();
    started = await shared;
    await provisionTenants(started.database.db, started.env, tenants);
  });
  afterAll(() => started?.provider.reset());
  const ready = (): SharedStack => {
    if (started === undefined) throw new Error("The shared stack is there once the file's first hook runs.");
    return started;
  };
  const stack: SharedStack = {
    get url() {
      return ready().url;
    },
    get provider() {
      return ready().provider;
    },
    get temporalAddress() {
      return ready().temporalAddress;
    },
    get dataDir() {
      return ready().dataDir;
    },
    get env() {
      return ready().env;
    },
    get database() {
      return ready().database;
    },
    get issuer() {
      return ready().issuer;
    },
    get api() {
      return ready().api;
    },
    get worker() {
      return ready().worker;
    },
  };
  return { stack, tenants };
}
