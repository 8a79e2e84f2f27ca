/** Gives a test file a console, and people who visit it with a browser. */
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { launchBrowser } from "../browser/chromium.ts";
import { laterOf } from "../run/later.ts";
import { closeSharedStack, restartEnded } from "../stack/shared-stack.ts";
import { provisionTenants } from "../tenants/provision.ts";
import { type Tenants, type Who, newTenants } from "../tenants/tenants.ts";
import { type ConsoleStack, startConsole } from "./start.ts";
import { type SignInOptions, signIn } from "./sign-in.ts";
import { type Place, type Visitor, newVisitor, screenLoaded } from "./visitor.ts";

type SharedConsole = Pick<
  ConsoleStack,
  "url" | "issuer" | "secret" | "provider" | "temporalUi" | "dataDir" | "env"
> & {
  readonly database: Pick<ConsoleStack["database"], "db" | "url">;
};

interface VisitOptions extends Omit<SignInOptions, "who"> {
  readonly window?: BrowserContextOptions;
}

interface OnConsole<S> {
  readonly stack: S;
  readonly tenants: Tenants;
  /** A window at nothing yet; it is closed after the test. */
  open(window?: BrowserContextOptions): Promise<Visitor>;
  /** One that has not shown the issuer its secret. */
  openAsStranger(): Promise<Visitor>;
  /** A window of this person, who has signed in, at the screen at `path`; it is closed after the test. */
  visit(who: Who, options?: VisitOptions): Promise<Visitor>;
}

/** Both end with vitest's worker process, which is told to end when no file is left. */
let shared: Promise<ConsoleStack> | undefined;
let browser: Promise<Browser> | undefined;

/** The address by which a person of the tenants signs in. */
export const emailOf = ({ domain }: Tenants, who: Who): string =>
  who === "rob" ? `rob@rival.${domain}` : `${who}@${domain}`;

/** Files that need a console come last. */
async function sharedConsole(): Promise<ConsoleStack> {
  await closeSharedStack();
  return (shared ??= startConsole({ withoutTenants: true }));
}

/**
 * That of all test files of a worker process; no test may kill, fill or reconfigure it. Call it once, in a
 * `describe` that is skipped where there is no browser.
 */
export function onSharedConsole(): OnConsole<SharedConsole> {
  return useConsole();
}

/**
 * The shared one for tests that kill its processes; afterwards they run again. To be called as the shared one
 * is.
 */
export function onKillableConsole(): OnConsole<ConsoleStack> {
  return useConsole(restartEnded);
}

function useConsole(
  end: (stack: ConsoleStack) => Promise<void> = async () => undefined,
): OnConsole<ConsoleStack> {
  const tenants = newTenants();
  const later = laterOf<ConsoleStack>("The console");
  const visitors: Visitor[] = [];
  let started: ConsoleStack | undefined;
  beforeAll(async () => {
    browser ??= launchBrowser();
    started = await sharedConsole();
    await provisionTenants(started.database.db, started.env, tenants);
    later.set(started);
  });
  afterAll(() => started && end(started));
  afterEach(async () => {
    await Promise.all(visitors.splice(0).map((visitor) => visitor.close()));
  });
  const openAt = async (place: Place, window?: BrowserContextOptions): Promise<Visitor> => {
    const visitor = await newVisitor(await browser!, place, window);
    visitors.push(visitor);
    return visitor;
  };
  const open = (window?: BrowserContextOptions): Promise<Visitor> => openAt(later.value, window);
  return {
    stack: later.value,
    tenants,
    open,
    openAsStranger: () => openAt({ url: later.value.url, issuer: later.value.issuer }),
    async visit(who, { window, ...options } = {}) {
      const visitor = await open(window);
      await signIn(visitor.page, `${later.value.url}/console`, { ...options, who: emailOf(tenants, who) });
      if (options.path !== undefined) await screenLoaded(visitor.page);
      return visitor;
    },
  };
}
