/** What is true of every screen of the console, in a real browser: nothing is wrong with it, for anybody. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { OF_COLORS, violations } from "../support/console/axe.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { openScreen } from "../support/console/visitor.ts";
import { unless } from "../support/run/unless.ts";

const NARROW = { width: 360, height: 740 };
/** The width once it fits; what still does not after some frames is given as it is. */
const NARROWED = `new Promise((done) => {
  let frames = 0;
  const look = () => {
    const { scrollWidth } = document.documentElement;
    frames += 1;
    if (scrollWidth <= ${NARROW.width} || frames > 120) done(scrollWidth);
    else requestAnimationFrame(look);
  };
  look();
})`;
const WIDE = { width: 1280, height: 800 };

describe("every screen", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onSharedConsole();

  /** The addresses that need no document or conversation; of screens that members may open alone. */
  const everybodys = (): string[] => [
    "/",
    "/welcome",
    `/spaces/${tenants.spaces.research}`,
    "/search",
    "/chat",
    "/agents",
    "/people",
    "/keys",
  ];
  const admins = (): string[] => [
    ...everybodys(),
    "/agents/new",
    `/agents/${tenants.agents.librarian}`,
    "/organization/usage",
    "/organization/audit",
    "/organization/webhooks",
    "/organization/settings",
    "/operations",
  ];

  /** Visits all, and notes what `look` says of each. */
  async function lookAt(
    page: Page,
    addresses: readonly string[],
    look: () => Promise<readonly string[]>,
  ): Promise<string[]> {
    const found: string[] = [];
    for (const address of addresses) {
      await openScreen(page, stack, address);
      found.push(...(await look()).map((fault) => `${address} ${fault}`));
    }
    return found;
  }

  test("is accessible to everybody, in light and dark, and fits a narrow window", async () => {
    const { page, faults } = await visit("ada", { isOperator: true, window: { colorScheme: "light" } });
    const look = async (): Promise<string[]> => {
      const inLight = await violations(page);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.locator("[data-mantine-color-scheme=dark]").first().waitFor();
      const inDark = await violations(page, OF_COLORS);
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize(NARROW);
      const width = await page.evaluate<number>(NARROWED);
      await page.setViewportSize(WIDE);
      return [
        ...inLight,
        ...inDark.map((fault) => `in dark: ${fault}`),
        ...(width > NARROW.width ? [`is ${width} wide`] : []),
      ];
    };
    expect(await lookAt(page, admins(), look)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("has nothing for a viewer that the service refuses", async () => {
    const { page, faults } = await visit("vic");
    await lookAt(page, everybodys(), async () => []);
    expect(faults).toEqual([]);
  });
});
