/** The first steps in a real browser. */
import { describe, expect, test } from "vitest";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { violations } from "../support/console/axe.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { unless } from "../support/run/unless.ts";

describe("the welcome", unless(MISSING_BROWSER), () => {
  const { visit } = onSharedConsole();

  test("who has nothing yet is led through upload, search, question and key", async () => {
    const { page, faults } = await visit("eve", { path: "/welcome" });
    await page.getByRole("button", { name: "Upload the sample" }).click();
    const step = (name: RegExp) => page.getByRole("region", { name });
    await step(/^1\. Upload/)
      .getByText("Done")
      .waitFor();
    await step(/^2\. Search/)
      .getByRole("button", { name: "Search", exact: true })
      .click();
    await step(/^2\. Search/)
      .getByText("Done")
      .waitFor();
    const ask = step(/^3\. Ask/);
    await ask.getByRole("button", { name: "Ask", exact: true }).click();
    await ask.getByText("Done").waitFor();
    await step(/^4\. Create an API key/)
      .getByRole("button", { name: "Create key" })
      .click();
    await step(/^4\. Create an API key/)
      .getByText("Done")
      .waitFor();
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
