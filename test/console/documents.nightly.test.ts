/** A document's screen in a real browser: its versions and runs, and what is changed there. */
import { describe, expect, test } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { call, ended, upload } from "../support/clients/client.ts";
import { violations } from "../support/console/axe.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { unless } from "../support/run/unless.ts";
import { until } from "../support/until.ts";

describe("a document", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onSharedConsole();
  const { research } = tenants.spaces;
  const key = tenants.keys.owner;

  test("versions, runs and integrity of a document are shown", async () => {
    const text = "# Minutes\n\nMinutes of the meeting.\n";
    const { id } = await upload(stack.url, key, research, text, "minutes.md");
    await ended(stack.url, key, id);
    await call(stack.url, key, "POST", `/data/${id}/reprocess`);
    await ended(stack.url, key, id);
    const { page, faults } = await visit("ada", { path: `/documents/${id}` });
    await page.getByText("Minutes of the meeting.").waitFor();
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("button", { name: "What changed" }).click();
    await page.getByRole("dialog").getByText("0 added, 0 removed, 1 unchanged").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("restoring").first().waitFor();
    await page.getByRole("tab", { name: "Processing" }).click();
    await page.getByRole("heading", { name: /^Run of version 3/ }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("tab", { name: "Integrity" }).click();
    await page.getByText("No problems found").waitFor();
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("own fields of a document are saved, and what is taken out is gone", async () => {
    const { id } = await upload(stack.url, key, research, `# Fields\n\n${newId()}\n`, "fields.md");
    await ended(stack.url, key, id);
    const { page, faults } = await visit("ada", { path: `/documents/${id}?tab=metadata` });
    const fields = page.getByRole("textbox", { name: "Custom fields (JSON)" });
    const save = page.getByRole("button", { name: "Save", exact: true });
    const saved = page.getByRole("status").filter({ hasText: "Saved" });
    await fields.fill('{"a":{"x":1,"y":2}}');
    await save.click();
    await saved.waitFor();
    await fields.fill('{"a":{"x":1}}');
    await save.click();
    await saved.waitFor();
    await page.reload();
    await until("it is as it was saved", async () => {
      const text = await fields.inputValue();
      return text.includes('"x"') && !text.includes('"y"');
    });
    expect(faults).toEqual([]);
  });
});
