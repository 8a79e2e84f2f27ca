/** What is true of every screen of the console, in a real browser: nothing is wrong with it, for anybody. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { violations } from "../support/console/axe.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { openScreen } from "../support/console/visitor.ts";
import { unless } from "../support/run/unless.ts";

const NARROW = { width: 360, height: 740 };

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

  test.each(["light", "dark"] as const)("is accessible to everybody, in %s", async (colorScheme) => {
    const { page, faults } = await visit("ada", { isOperator: true, window: { colorScheme } });
    expect(await lookAt(page, admins(), () => violations(page))).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("fits a narrow window", async () => {
    const { page, faults } = await visit("ada", { isOperator: true, window: { viewport: NARROW } });
    const overflow = async (): Promise<string[]> => {
      const width = await page.evaluate<number>("document.documentElement.scrollWidth");
      return width > NARROW.width ? [`is ${width} wide`] : [];
    };
    expect(await lookAt(page, admins(), overflow)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("has nothing for a viewer that the service refuses", async () => {
    const { page, faults } = await visit("vic");
    await lookAt(page, everybodys(), async () => []);
    expect(faults).toEqual([]);
  });
});
