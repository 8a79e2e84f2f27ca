/**
 * The Holdfast that all test files of a vitest worker process share, one after the other. No test may kill or
 * reconfigure it, unless its file says so with {@link onKillableStack}, which puts everything back.
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

/** The same stack for tests that kill its processes or start them with other settings. */
export interface KillableStack
  extends
    Pick<
      Stack,
      "url" | "provider" | "temporalAddress" | "dataDir" | "env" | "database" | "restartApi" | "restartWorker"
    >,
    Pick<SharedStack, "issuer" | "temporalUi"> {
  readonly api: TestProcess;
  readonly worker: TestProcess;
}

export interface KillableStackOptions {
  /** Settings of both processes while the file runs. */
  readonly env?: Record<string, string> | (() => Promise<Record<string, string>>);
  readonly withoutWorker?: boolean;
}

/** Small, so that a test reaches the limit with little data. */
const MAX_UPLOAD_BYTES = 4 * 1024 * 1024;

/** The settings that {@link onKillableStack} puts back. */
let usualSettings: Readonly<Record<string, string>> = {};

/** Ends with vitest's worker process, which is told to end when no file is left. */
let shared: Promise<Stack & KillableStack> | undefined;

/** Closes it, for files that need another stack: one that nobody uses takes a tenth of a core. */
export async function closeSharedStack(): Promise<void> {
  const stack = await shared;
  shared = undefined;
  await stack?.close();
}

async function start(): Promise<Stack & KillableStack> {
  const issuer = await startIssuer();
  const settings = {
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: issuer.audience,
    MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES),
  };
  const stack = await startStack({ withoutTenants: true, env: settings, hasTemporalUi: true });
  usualSettings = { ...stack.env };
  return Object.assign(stack, { issuer });
}

/**
 * Gives a test file tenants of its own in the stack of its worker process. Call it once, at the top of the
 * file; the stack's fields can be read from the file's first hook or test on. After the last test, the
 * provider is reset.
 */
export function onSharedStack(): { readonly stack: SharedStack; readonly tenants: Tenants } {
  return onStackOfWorker(
    async () => undefined,
    async (stack) => stack.provider.reset(),
  );
}

/**
 * Like {@link onSharedStack}, for a file that kills the API or the worker or needs other settings, but leaves
 * Postgres, Temporal and the objects alone. After the last test both processes run again as before.
 */
export function onKillableStack({ env = {}, withoutWorker = false }: KillableStackOptions = {}): {
  readonly stack: KillableStack;
  readonly tenants: Tenants;
} {
  let settings: Record<string, string> = {};
  let usual: Pick<KillableStack, "api" | "worker"> | undefined;
  return onStackOfWorker(
    async (stack) => {
      usual = { api: stack.api, worker: stack.worker };
      settings = typeof env === "function" ? await env() : env;
      const hasSettings = Object.keys(settings).length > 0;
      if (withoutWorker || hasSettings) await stack.worker.kill("SIGKILL");
      if (hasSettings) {
        Object.assign(stack.env, settings);
        await stack.api.kill("SIGKILL");
        if (!withoutWorker) stack.restartWorker();
        await stack.restartApi();
      }
    },
    async (stack) => {
      stack.provider.reset();
      for (const name of Object.keys(settings)) delete stack.env[name];
      Object.assign(stack.env, usualSettings);
      await Promise.all([
        stack.api === usual?.api ? undefined : stack.api.kill("SIGKILL"),
        stack.worker === usual?.worker ? undefined : stack.worker.kill("SIGKILL"),
      ]);
      await restartEnded(stack);
    },
  );
}

/** Starts the API and the worker again, as far as they have ended. */
export async function restartEnded(
  stack: Pick<Stack, "api" | "worker" | "restartApi" | "restartWorker">,
): Promise<void> {
  const hasEnded = ({ child }: TestProcess): boolean => child.exitCode !== null || child.signalCode !== null;
  if (hasEnded(stack.worker)) stack.restartWorker();
  if (hasEnded(stack.api)) await stack.restartApi();
}

function onStackOfWorker(
  begin: (stack: KillableStack) => Promise<void>,
  end: (stack: KillableStack) => Promise<void>,
): { readonly stack: KillableStack; readonly tenants: Tenants } {
  const tenants = newTenants();
  const later = laterOf<KillableStack>("The shared stack");
  let started: KillableStack | undefined;
  beforeAll(async () => {
    shared ??= start();
    started = await shared;
    later.set(started);
    await begin(started);
    await provisionTenants(started.database.db, started.env, tenants);
  });
  afterAll(async () => {
    if (started !== undefined) await end(started);
  });
  return { stack: later.value, tenants };
}
