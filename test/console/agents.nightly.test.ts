/** Agents in a real browser: made, changed by two people at once, tried out, and their history read. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { violations } from "../support/console/axe.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { unless } from "../support/run/unless.ts";

describe("agents", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onSharedConsole();

  const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true });

  const visitNew = () => visit("ada", { path: `/agents/new?space=${tenants.spaces.research}` });

  /** Makes an agent at its screen, and returns the address of what follows. */
  async function make(page: Page, name: string): Promise<string> {
    await page.getByRole("textbox", { name: "Name" }).fill(name);
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    return new URL(page.url()).pathname.replace("/console", "");
  }

  test("a tool's configuration is checked as it is typed", async () => {
    const { page, faults } = await visitNew();
    await make(page, "Fetcher");
    await page.getByRole("button", { name: "Add a tool" }).click();
    await page.getByRole("menuitem", { name: "Fetch web addresses" }).click();
    await page.getByRole("checkbox", { name: "Limit to some hosts" }).check();
    const hosts = page.getByRole("combobox", { name: "Hosts" });
    await hosts.fill("https://example.org");
    await hosts.press("Enter");
    await page.getByText("https://example.org is not a host.").waitFor();
    expect(await save(page).isDisabled()).toBe(true);
    await hosts.press("Backspace");
    await hosts.fill("*.example.org");
    await hosts.press("Enter");
    await save(page).click();
    await page.getByRole("status").filter({ hasText: "Saved." }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("two people who change one agent see each other's change, and the history has both", async () => {
    const { page } = await visitNew();
    const { page: other } = await visit("ada", { path: await make(page, "Contested") });
    await page.getByRole("textbox", { name: "Prompt" }).fill("Mine.");
    await page.getByRole("textbox", { name: "Description" }).fill("Of mine alone.");
    await other.getByRole("textbox", { name: "Prompt" }).fill("Theirs.");
    await save(other).click();
    await other.getByRole("status").filter({ hasText: "Saved." }).waitFor();
    await save(page).click();
    const dialog = page.getByRole("dialog", { name: "Someone else changed this agent" });
    const prompt = dialog.getByRole("radiogroup", { name: "Prompt" });
    await prompt.getByText("Theirs.").waitFor();
    expect(await dialog.getByRole("button", { name: "Save this" }).isDisabled()).toBe(true);
    expect(await violations(page)).toEqual([]);
    await prompt.getByRole("radio", { name: "Yours" }).check();
    await dialog.getByRole("button", { name: "Save this" }).click();
    await page.getByRole("status").filter({ hasText: "Saved." }).waitFor();
    await page.getByRole("tab", { name: "History" }).click();
    const newest = page.getByRole("tabpanel").getByRole("listitem").first();
    await newest.getByText("Theirs.").waitFor();
    await newest.getByText("Mine.").waitFor();
    await newest.getByText("Of mine alone.").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("an agent is tried out beside its settings, and deleted", async () => {
    const { page } = await visitNew();
    stack.provider.reset();
    stack.provider.reply({ pieces: ["Tried", " and true."] });
    await make(page, "Short-lived");
    await page.getByRole("textbox", { name: "Question" }).fill("Does it work?");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Answer" }).getByText("Tried and true.").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete agent" }).click();
    await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
    await page.getByRole("link", { name: "Short-lived" }).waitFor({ state: "detached" });
  });

  test("a viewer reads and asks, and changes nothing", async () => {
    const { page, faults } = await visit("vic", { path: `/agents/${tenants.agents.analyst}` });
    await page.getByText("Only editors of its space can change it.").waitFor();
    expect(await page.getByRole("textbox", { name: "Prompt" }).isDisabled()).toBe(true);
    expect(await save(page).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    expect(await page.getByRole("tab").count()).toBe(0);
    await page.getByRole("textbox", { name: "Question" }).waitFor();
    expect(faults).toEqual([]);
  });
});
