/** One conversation in two tabs of a real browser: both show it whole, whichever of them asks. */
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { ask } from "../support/console/ask.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { openScreen } from "../support/console/visitor.ts";
import { unless } from "../support/run/unless.ts";
import { until } from "../support/until.ts";

describe("chat in two tabs", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onSharedConsole();
  beforeEach(() => stack.provider.reset());

  const chats = () => stack.provider.requests.filter(({ route }) => route === "chat");
  const visitChat = () => visit("ada", { path: `/chat?agent=${tenants.agents.analyst}` });

  /** Two tabs that show one conversation, which has one question that was answered. */
  async function twoTabs() {
    const { page, context } = await visitChat();
    stack.provider.reply({ pieces: ["From the first."] });
    await ask(page, "The first question.");
    await page.locator(".answer").filter({ hasText: "From the first." }).waitFor();
    const second = await context.newPage();
    await openScreen(second, stack, new URL(page.url()).pathname.replace("/console", ""));
    await second.locator(".answer").filter({ hasText: "From the first." }).waitFor();
    return { page, second };
  }
  const answers = (tab: Page) => tab.locator(".answer").allTextContents();
  const SLOW = { pieces: ["Begun,", " going", " on,", " ended."], delayMsBetweenPieces: 1_500 };

  test("two tabs ask in one conversation, and neither loses what the other has asked", async () => {
    const { page, second } = await twoTabs();
    stack.provider.reply(SLOW, { pieces: ["From the second."] });
    await ask(page, "The second question.");
    // It is received by the first tab alone, and seen in both.
    await second.locator(".answer").filter({ hasText: "Begun," }).waitFor();
    await second.locator(".answer").filter({ hasText: "ended." }).waitFor();
    await ask(second, "The third question.");
    await page.locator(".answer").filter({ hasText: "From the second." }).waitFor();
    await second.reload();
    await second.locator(".answer").nth(2).waitFor();
    expect(await answers(second)).toEqual(["From the first.", "Begun, going on, ended.", "From the second."]);
    expect(chats()).toHaveLength(3);
    stack.provider.reply({ pieces: ["Much", " more", " than", " that."], delayMsBetweenPieces: 2_000 });
    await ask(page, "A fourth question, which the other tab stops.");
    await second.locator(".answer").filter({ hasText: "Much" }).waitFor();
    await second.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped").waitFor();
  });

  test("an answer goes on in another tab when the one that receives it is closed", async () => {
    const { page, second } = await twoTabs();
    stack.provider.reply(SLOW);
    await ask(page, "The second question.");
    await second.locator(".answer").filter({ hasText: "Begun," }).waitFor();
    await page.close();
    await second.locator(".answer").filter({ hasText: "Begun, going on, ended." }).waitFor();
    expect(await answers(second)).toEqual(["From the first.", "Begun, going on, ended."]);
    expect(chats()).toHaveLength(2);
  });

  test("a question that another tab replaces is gone in both, with its answer", async () => {
    const { page, second } = await twoTabs();
    stack.provider.reply(SLOW, { pieces: ["Short."] });
    await ask(page, "A question that is replaced.");
    await second.locator(".answer").filter({ hasText: "Begun," }).waitFor();
    await second.getByRole("button", { name: "Edit and ask again" }).first().click();
    await second.getByRole("textbox", { name: "Edit and ask again" }).fill("Another first question.");
    await second.getByRole("article").getByRole("button", { name: "Send" }).click();
    for (const tab of [page, second]) await tab.locator(".answer").filter({ hasText: "Short." }).waitFor();
    await until("the replaced one is gone", async () => (await answers(page)).length === 1);
    await page.reload();
    await page.locator(".answer").first().waitFor();
    for (const tab of [page, second]) expect(await answers(tab)).toEqual(["Short."]);
  });

  test("what one tab removes while another receives its answer does not come back", async () => {
    const { page, second } = await twoTabs();
    stack.provider.reply(SLOW);
    await ask(page, "A question of what is removed.");
    await second.locator(".answer").filter({ hasText: "Begun," }).waitFor();
    await second.getByRole("button", { name: "Actions for this conversation" }).click();
    await second.getByRole("menuitem", { name: "Delete" }).click();
    await second.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("This conversation is not in this browser").waitFor();
    await page.reload();
    await page.getByText("This conversation is not in this browser").waitFor();
  });

  test("an answer of many quick pieces is shown whole", async () => {
    const { page } = await visitChat();
    const pieces = Array.from({ length: 600 }, (_, at) => `${at} `);
    stack.provider.reply({ pieces, delayMsBetweenPieces: 5 });
    await ask(page, "Count.");
    await page.locator(".answer").filter({ hasText: "599" }).waitFor();
    expect((await answers(page)).map((text) => text.trim())).toEqual([pieces.join("").trim()]);
  });
});
