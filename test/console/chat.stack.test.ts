/** Chat and search in a real browser: from the question to the page on which the answer rests. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { ended, upload } from "../support/clients/client.ts";
import { violations } from "../support/console/axe.ts";
import { ask } from "../support/console/ask.ts";
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
