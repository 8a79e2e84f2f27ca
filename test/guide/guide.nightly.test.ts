/**
 * The built guide in a real browser: no page breaks its policy or asks another host, and everything works by
 * keyboard, in light and dark and on a narrow screen.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../src/api/routes/index.ts";
import { type TinyApp, startTinyApp } from "../support/app/tiny-app.ts";
import { MISSING_BROWSER, launchBrowser } from "../support/browser/chromium.ts";
import { watchPage } from "../support/browser/watch.ts";
import { BUILD_MS, buildSite } from "../support/servers/sites.ts";
import { unless } from "../support/run/unless.ts";
import { until } from "../support/until.ts";

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };

describe("the guide in a browser", unless(MISSING_BROWSER), () => {
  let app: TinyApp;
  let browser: Browser;

  beforeAll(async () => {
    await buildSite("guide");
    app = await startTinyApp(ROUTES);
    browser = await launchBrowser();
  }, BUILD_MS);

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /** Opens a page, waits until its scripts run, and fails if anything was wrong with it. */
  async function visit(path: string, use: (page: Page) => Promise<void>, viewport = WIDE): Promise<void> {
    const context = await browser.newContext({ viewport });
    try {
      const page = await context.newPage();
      const faults = await watchPage(page, app.url);
      await open(page, path);
      await use(page);
      expect(faults).toEqual([]);
    } finally {
      await context.close();
    }
  }

  async function open(page: Page, path: string): Promise<void> {
    await page.goto(app.url + path, { waitUntil: "load" });
    // Not by the page's own waiting, which its policy lets evaluate nothing.
    await until("the page's scripts run", () =>
      page.evaluate<boolean>("document.querySelector('#app')?.__vue_app__ !== undefined"),
    );
  }

  const text = (page: Page, selector: string): Promise<string> =>
    page.$eval(selector, (element) => element.textContent ?? "");

  test("every page of the sidebar loads without a fault", { timeout: 180_000 }, () =>
    visit("/docs/", async (page) => {
      const hrefs = await page.$$eval(".VPSidebar a", (links) =>
        links.map((link) => link.getAttribute("href")!),
      );
      expect(hrefs.length).toBeGreaterThan(30);
      for (const href of [...new Set(hrefs), "/docs/errors/model_not_found"]) {
        await open(page, href);
        expect(await text(page, "h1")).not.toBe("");
      }
    }),
  );

  test("what breaks the policy would be noticed", async () => {
    const page = await browser.newPage();
    const faults = await watchPage(page, app.url);
    await open(page, "/docs/");
    await page.evaluate(`
      document.body.insertAdjacentHTML("beforeend", "<p style='color: red'>x</p>");
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      new Image().src = "https://elsewhere.example/x.png";
    `);
    await until("all three are refused", async () =>
      ["style", "script", "img"].every((kind) =>
        faults.some((fault) => fault.startsWith(`policy: ${kind}-src`)),
      ),
    );
    expect(await page.evaluate("window.ran")).toBeUndefined();
    await page.close();
  });

  test("search finds a word by keyboard, and Enter opens its page", () =>
    visit("/docs/", async (page) => {
      await page.keyboard.press("/");
      await page.waitForSelector(".VPLocalSearchBox input:focus");
      await page.keyboard.type("chunker");
      await page.waitForSelector(".VPLocalSearchBox .result.selected");
      const first = await page.$eval(".VPLocalSearchBox .result.selected", (link) =>
        link.getAttribute("href")!,
      );
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname === first.split("#")[0]);
      await page.waitForSelector(".VPLocalSearchBox", { state: "detached" });
      expect((await text(page, ".vp-doc")).toLowerCase()).toContain("chunker");
    }));

  test("tabs switch by keyboard, and all others of the page with them", () =>
    visit("/docs/quick-start", async (page) => {
      const shown = (): Promise<string[]> =>
        page.$$eval(".vp-code-group", (groups) =>
          groups.map((group) => group.querySelector("input:checked + label")?.textContent ?? ""),
        );
      expect(new Set(await shown())).toContain("curl");
      await page.evaluate(`[...document.querySelectorAll(".vp-code-group input:checked")]
        .find((input) => input.nextElementSibling.textContent === "curl").focus()`);
      await page.keyboard.press("ArrowRight");
      await until("Python is shown", async () => !(await shown()).includes("curl"));
      expect(new Set(await shown())).toEqual(new Set(["Python"]));
      const visible = await page.$$eval(".vp-code-group div[class*=language-].active", (blocks) =>
        blocks.map((block) => /language-(\w+)/.exec(block.className)?.[1]),
      );
      expect(visible).toContain("python");
      expect(visible).not.toContain("ts");
      await open(page, "/docs/upload-and-wait");
      await until("the next page begins with Python", async () => (await shown()).includes("Python"));
    }));

  test("light and dark follow the system, and the switch is remembered", () =>
    visit("/docs/", async (page) => {
      const background = (): Promise<unknown> =>
        page.evaluate("getComputedStyle(document.body).backgroundColor");
      const light = await background();
      await page.emulateMedia({ colorScheme: "dark" });
      await until("it is dark", async () => (await background()) !== light);
      await page.click(".VPNavBarAppearance .VPSwitchAppearance");
      await until("it is light", async () => (await background()) === light);
      await open(page, "/docs/quick-start");
      expect(await background()).toBe(light);
    }));

  test.each(["/docs/", "/docs/quick-start", "/docs/errors", "/docs/settings", "/docs/reference/documents"])(
    "%s fits a narrow screen",
    (path) =>
      visit(
        path,
        async (page) => {
          expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(
            NARROW.width,
          );
          await page.click(".VPLocalNav .menu");
          await page.waitForSelector(".VPSidebar.open");
        },
        NARROW,
      ),
  );

  test("the API can be tried from a page, under the same policy", async () => {
    const page = await browser.newPage();
    const faults = await watchPage(page, app.url);
    await page.goto(`${app.url}/docs/try`);
    await page.waitForSelector(".swagger-ui .opblock-summary");
    await page.click(".opblock-summary-control");
    await page.waitForSelector(".btn.execute");
    await page.click(".btn.execute");
    await page.waitForSelector(".responses-table.live-responses-table");
    expect(faults).toEqual([]);
    await page.close();
  });
});
