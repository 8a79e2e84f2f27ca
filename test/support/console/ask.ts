import type { Page } from "playwright-core";

/** Asks a question in the chat that the page shows. */
export async function ask(page: Page, question: string): Promise<void> {
  await page.getByRole("textbox", { name: "Your question" }).fill(question);
  await page.keyboard.press("Enter");
}
