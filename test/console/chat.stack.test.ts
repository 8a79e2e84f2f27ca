/** Chat and search in a real browser: from the question to the page on which the answer rests. */
import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { ended, upload } from "../support/clients/client.ts";
import { violations } from "../support/console/axe.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { openScreen } from "../support/console/visitor.ts";
import { makePdf } from "../support/files/text.ts";
import { unless } from "../support/run/unless.ts";
import { until } from "../support/until.ts";

const SENTENCE = "The gearbox oil is changed every 18 months.";

describe("chat", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onSharedConsole();
  let documentId: string;

  beforeAll(async () => {
    const pdf = new Uint8Array(makePdf([["Cover page of the manual."], [SENTENCE]]));
    const { research } = tenants.spaces;
    documentId = (await upload(stack.url, tenants.keys.owner, research, pdf, "turbine.pdf")).id;
    await ended(stack.url, tenants.keys.owner, documentId);
  });
  beforeEach(() => stack.provider.reset());

  const chats = () => stack.provider.requests.filter(({ route }) => route === "chat");

  async function ask(page: Page, question: string): Promise<void> {
    await page.getByRole("textbox", { name: "Your question" }).fill(question);
    await page.keyboard.press("Enter");
  }

  const visitChat = (agent: string = tenants.agents.analyst) =>
    visit("ada", { path: `/chat?agent=${agent}` });

  test("an answer's mark opens the page with its quote, and the receipt is checked there", async () => {
    const { page, faults } = await visitChat();
    stack.provider.reply({ pieces: ["The gearbox oil is changed every", " 18 months [1]."] });
    await ask(page, "When is the gearbox oil changed?");
    const source = page.getByRole("link", { name: "Source 1: turbine.pdf" }).first();
    await source.waitFor();
    expect(await violations(page)).toEqual([]);
    await source.click();
    await page.getByRole("status").filter({ hasText: "Genuine: the published version" }).waitFor();
    await page.getByRole("img", { name: "Picture of page 2" }).waitFor();
    await page.locator("mark", { hasText: SENTENCE }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/documents/${documentId}`);
    expect(await violations(page)).toEqual([]);
    // Neither the question nor the quote is in any address.
    expect(decodeURIComponent(page.url())).not.toContain("gearbox");
    expect(faults).toEqual([]);
  });

  test("a reload in mid-answer goes on where it was, and the model is asked once", async () => {
    const { page } = await visitChat();
    stack.provider.reply({
      pieces: ["First part,", " second part,", " third part."],
      delayMsBetweenPieces: 1_500,
    });
    await ask(page, "Tell me in three parts.");
    const answer = page.locator(".answer").last();
    await answer.filter({ hasText: "First part," }).waitFor();
    await page.reload();
    await answer.filter({ hasText: "First part, second part, third part." }).waitFor();
    expect(await answer.textContent()).toBe("First part, second part, third part.");
    expect(chats()).toHaveLength(1);
  });

  test("an answer can be stopped, and the question changed and asked again", async () => {
    const { page } = await visitChat();
    stack.provider.reply(
      { pieces: ["This takes", " for ever."], delayMsBetweenPieces: 20_000 },
      { pieces: ["Short."] },
    );
    await ask(page, "Tell me everything.");
    await page.locator(".answer").filter({ hasText: "This takes" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Edit and ask again" }).click();
    await page.getByRole("textbox", { name: "Edit and ask again" }).fill("Be brief.");
    await page.getByRole("article").getByRole("button", { name: "Send" }).click();
    await page.locator(".answer").filter({ hasText: "Short." }).waitFor();
    expect(await page.getByRole("log").getByText("Tell me everything.").count()).toBe(0);
    expect(chats().at(-1)!.body["messages"].at(-1)).toEqual({ role: "user", content: "Be brief." });
  });

  test("shows tools as they run", async () => {
    const { page } = await visitChat(tenants.agents.librarian);
    stack.provider.reply(
      { toolCalls: [{ id: "a", name: "list_documents", arguments: "{}" }] },
      { pieces: ["There is one."] },
    );
    await ask(page, "Which documents are there?");
    await page.getByText("list_documents · done").waitFor();
  });

  test("what a model writes runs nothing and loads nothing", async () => {
    const { page, faults } = await visitChat();
    stack.provider.reply({
      pieces: [
        "<img src=x onerror='window.hacked=1'> <script>window.hacked=1</script> ",
        "[click](javascript:window.hacked=1) ![track](https://elsewhere.example/x.png) [1](https://ok.example)",
      ],
    });
    await ask(page, "Attack me.");
    await page.locator(".answer").filter({ hasText: "click" }).waitFor();
    expect(await page.locator(".answer img, .answer script").count()).toBe(0);
    expect(await page.locator('.answer a[href^="javascript"]').count()).toBe(0);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test("a failure is said with a way on", async () => {
    const { page } = await visitChat();
    stack.provider.reply({ status: 400 }, { pieces: ["Better now."] });
    await ask(page, "Fail first.");
    await page.getByRole("alert").getByRole("button", { name: "Ask again" }).click();
    await page.locator(".answer").filter({ hasText: "Better now." }).waitFor();
  });

  test("conversations stay in the browser of the person", async () => {
    const { page } = await visitChat();
    stack.provider.reply({ pieces: ["Yes."] });
    await ask(page, "Do you remember?");
    await page.locator(".answer").filter({ hasText: "Yes." }).waitFor();
    const { pathname } = new URL(page.url());
    await openScreen(page, stack, "/chat");
    await page.getByRole("link", { name: "Do you remember?" }).click();
    await page.locator(".answer").filter({ hasText: "Yes." }).waitFor();
    const other = await visit("eve");
    await openScreen(other.page, stack, pathname.replace("/console", ""));
    await other.page.getByText("This conversation is not in this browser").waitFor();
  });

  test("a question goes to the conversation and the agent that are shown", async () => {
    const { page } = await visitChat();
    stack.provider.reply({ pieces: ["One."] }, { pieces: ["Two."] }, { pieces: ["Three."] });
    await ask(page, "Question of the first.");
    await page.locator(".answer").filter({ hasText: "One." }).waitFor();
    const first = page.url();
    await page.getByRole("link", { name: "New conversation" }).first().click();
    const agents = page.getByRole("combobox", { name: "Agent" });
    await agents.selectOption(tenants.agents.librarian);
    await ask(page, "Question of the second.");
    await page.locator(".answer").filter({ hasText: "Two." }).waitFor();
    await page.locator("main#content").getByText("Librarian").first().waitFor();
    await page.getByRole("link", { name: "Question of the first." }).click();
    await page.locator(".answer").filter({ hasText: "One." }).waitFor();
    await ask(page, "Another of the first.");
    await page.locator(".answer").filter({ hasText: "Three." }).waitFor();
    expect(page.url()).toBe(first);
    expect(await page.locator(".answer").allTextContents()).toEqual(["One.", "Three."]);
  });

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

  test("search shows hits with their shares, and what another setting changes", async () => {
    const { page, faults } = await visit("ada", { path: "/search" });
    await page.getByRole("textbox", { name: "What are you looking for?" }).fill("gearbox oil");
    await page.keyboard.press("Enter");
    const hits = page.getByRole("article");
    await hits.first().waitFor();
    await hits.first().locator("mark").first().waitFor();
    await page.getByRole("switch", { name: "Compare two settings" }).click();
    const right = page.getByRole("region", { name: "Setting B" });
    await right.getByRole("spinbutton", { name: "At most" }).fill("1");
    await until("only one is left", async () => (await right.getByRole("article").count()) === 1);
    await right.getByText(/of the hits are in both/).waitFor();
    expect(await violations(page)).toEqual([]);
    await right.getByRole("link", { name: "turbine.pdf" }).click();
    await page.getByRole("img", { name: "Picture of page 2" }).waitFor();
    expect(faults).toEqual([]);
  });
});
