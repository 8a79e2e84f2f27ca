/** Somebody with a browser window of their own: no cookie and no storage is shared with another. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { SIGN_IN_PATH, gateCookie } from "../../../src/issuer/gate.ts";
import { watchPage } from "../browser/watch.ts";
import { until } from "../until.ts";

/** Generous, for a machine that is busy with other tests. */
const ACT_MS = 30_000;
const ENGLISH = "en-GB";
/** What Mantine shows in place of what is not there yet. */
const LOADING = ".mantine-Loader-root, .mantine-Skeleton-root";

export interface Place {
  readonly url: string;
  readonly issuer: string;
  /** The issuer's: the window is one that has shown it. Without it the window is a stranger's. */
  readonly secret?: string;
}

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What its first page should not have done; it grows while the page is used. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** A window of 1280 × 800 points in English, without animations, unless `options` say otherwise. */
export async function newVisitor(
  browser: Browser,
  place: Place,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: ENGLISH,
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(ACT_MS);
  if (place.secret !== undefined) {
    const { hostname, port } = new URL(place.issuer);
    const cookie = gateCookie({ secret: place.secret, port: Number(port) });
    await context.addCookies([{ ...cookie, domain: hostname, path: SIGN_IN_PATH }]);
  }
  const page = await context.newPage();
  const faults = await watchPage(page, place.url, new URL(place.issuer).origin);
  return { page, context, faults, close: () => context.close() };
}

/** Waits for the frame that is around every screen of somebody who is signed in. */
export async function screenShown(page: Page): Promise<void> {
  await page.locator("main#content").waitFor();
}

/**
 * Opens the screen at this address, as somebody who has signed in with this browser, and returns when it has
 * its heading and nothing of it loads any more.
 */
export async function openScreen(page: Page, place: Place, address: string): Promise<void> {
  await page.goto(`${place.url}/console${address}`);
  await screenLoaded(page);
}

/** Waits until the screen has its heading and nothing of it loads any more. */
export async function screenLoaded(page: Page): Promise<void> {
  await screenShown(page);
  const screen = page.locator("main#content");
  await screen.getByRole("heading", { level: 1 }).first().waitFor();
  await until("the screen has loaded", async () => (await screen.locator(LOADING).count()) === 0);
}
