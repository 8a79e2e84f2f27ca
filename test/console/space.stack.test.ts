/** The documents of a space in a real browser: what people do with them, and what they see of each other. */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { call, ended, upload } from "../support/clients/client.ts";
import { violations } from "../support/console/axe.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { openScreen } from "../support/console/visitor.ts";
import { makePdf } from "../support/files/text.ts";
import { unless } from "../support/run/unless.ts";
import type { Who } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";

describe("a space", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onSharedConsole();
  const { research } = tenants.spaces;
  const row = (page: Page, name: string): Locator => page.getByRole("row").filter({ hasText: name });
  const key = tenants.keys.owner;

  const visitSpace = (who: Who) => visit(who, { path: `/spaces/${research}` });

  test("files that are chosen are uploaded, processed and ready without a reload", async () => {
    const { page, faults } = await visitSpace("ada");
    const pdf = makePdf([["The harbour was built in 1904."]]);
    await page.getByLabel("Files…").setInputFiles([
      { name: "harbour.pdf", mimeType: "application/pdf", buffer: pdf },
      { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Notes\n\nThe crane is blue.\n") },
    ]);
    for (const name of ["harbour.pdf", "notes.md"])
      await row(page, name).getByText("Ready", { exact: true }).waitFor();
    const { body } = await call(stack.url, key, "POST", "/data/hybrid-search", {
      query: "When was the harbour built?",
      space_id: research,
    });
    expect(body.results[0].document_name).toBe("harbour.pdf");
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("an upload that cannot be processed says why, and what to do", async () => {
    const { page } = await visitSpace("ada");
    await page.getByLabel("Files…").setInputFiles({
      name: "broken.pdf",
      mimeType: "application/pdf",
      buffer: Buffer.from("%PDF-1.7\nthis is no PDF"),
    });
    const broken = row(page, "broken.pdf");
    await broken.getByText("Failed", { exact: true }).waitFor();
    await broken
      .getByText("The file is damaged. Open it in its application, save a new copy, then upload that copy.")
      .waitFor();
    await page.getByRole("grid").focus();
    await page.keyboard.press("i");
    await page.getByRole("dialog").getByText("What to do").waitFor();
  });

  test("what another person does appears without a reload", async () => {
    const { page } = await visitSpace("vic");
    const { id } = await upload(
      stack.url,
      key,
      research,
      "# Tides\n\nThe tide comes twice a day.\n",
      "tides.md",
    );
    await row(page, "tides.md").waitFor();
    await ended(stack.url, key, id);
    await row(page, "tides.md").getByText("Ready", { exact: true }).waitFor();
    await call(stack.url, key, "DELETE", `/data/${id}`);
    await row(page, "tides.md").waitFor({ state: "detached" });
  });

  test("a folder is deleted after the count of what goes with it", async () => {
    const { page, faults } = await visitSpace("ada");
    const { body: folder } = await call(stack.url, key, "POST", "/folders", {
      name: "Old plans",
      space_id: research,
    });
    for (const name of ["plan-a.md", "plan-b.md"]) {
      const { id } = await upload(stack.url, key, research, `# ${name}\n\n${newId()}\n`, name);
      await ended(stack.url, key, id);
      await call(stack.url, key, "PATCH", `/data/${id}`, { folder_id: folder.id });
    }
    await page.getByRole("treeitem", { name: "Old plans" }).focus();
    await page.keyboard.press("Delete");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 documents").waitFor();
    await dialog.getByText("1 folder").waitFor();
    await dialog.getByRole("button", { name: "Delete folder" }).click();
    await page.getByRole("treeitem", { name: "Old plans" }).waitFor({ state: "detached" });
    await row(page, "plan-a.md").waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  test("a few letters lead to another space, by keyboard alone", async () => {
    const { page } = await visitSpace("ada");
    await until("the palette is loaded", () =>
      page.evaluate<boolean>(
        'performance.getEntriesByType("resource").some(({ name }) => name.includes("palette"))',
      ),
    );
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("textbox").waitFor();
    await page.keyboard.type("archi");
    await page.getByRole("option", { name: /^Archive/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Archive" }).waitFor();
    expect(page.url()).toContain(tenants.spaces.archive);
  });

  test("a viewer is offered nothing that the service would refuse", async () => {
    const { page, faults } = await visitSpace("vic");
    await page.getByRole("grid").waitFor();
    expect(await page.getByRole("button", { name: "Upload" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Settings" }).count()).toBe(0);
    expect(await page.getByRole("checkbox").count()).toBe(0);
    expect(await page.getByRole("link", { name: "Organization" }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("names and texts of documents are shown as they are, and run nothing", async () => {
    const { page, faults } = await visitSpace("ada");
    const name = `<img src=x onerror=window.hacked=1>${newId()}.md`;
    const text = "# <script>window.hacked=1</script>\n\n<img src=x onerror=window.hacked=1>\n";
    const { id } = await upload(stack.url, key, research, text, name);
    await ended(stack.url, key, id);
    await row(page, name).waitFor();
    await openScreen(page, stack, `/documents/${id}`);
    await page.getByText("onerror=window.hacked=1").first().waitFor();
    for (const tab of ["versions", "runs", "integrity", "metadata"])
      await openScreen(page, stack, `/documents/${id}?tab=${tab}`);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(faults).toEqual([]);
  });
});
