/** Keys and people in a real browser: what is made there works everywhere. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { ended, upload } from "../support/clients/client.ts";
import { openScreen } from "../support/console/visitor.ts";
import { unless } from "../support/run/unless.ts";

/** Prints the status alone; the header follows. */
const CURL = ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H"];

describe("keys and people", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onSharedConsole();

  test("a key that is made in the browser is shown once, works in curl, and stops when it is revoked", async () => {
    const { page, faults } = await visit("ada", { path: "/keys" });
    const name = `Import ${newId()}`;
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill(name);
    await page.getByRole("button", { name: "Create key" }).click();
    const secret = (await page.locator("[data-secret]").textContent())!;
    const status = async (): Promise<string> => {
      const { stdout } = await promisify(execFile)("curl", [
        ...CURL,
        `Authorization: Bearer ${secret}`,
        `${stack.url}/v1/models`,
      ]);
      return stdout;
    };
    expect(await status()).toBe("200");
    await page.getByRole("dialog").getByRole("button").last().click();
    await page.getByRole("row").filter({ hasText: name }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("row").filter({ hasText: name }).waitFor({ state: "detached" });
    await expect.poll(status, { timeout: 15_000 }).toBe("401");
    expect(faults).toEqual([]);
  });

  test("a person who is added is a member, and an admin sees what they can do and why", async () => {
    const { page } = await visit("ada", { path: "/people" });
    const email = `new-${newId()}@${tenants.domain}`;
    await page.getByRole("button", { name: "Add a person" }).click();
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name" }).fill("Nora New");
    await form.getByRole("textbox", { name: "E-mail address" }).fill(email);
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("row").filter({ hasText: email }).waitFor();
    await page.getByRole("link", { name: "Nora New" }).first().click();
    await page.getByRole("heading", { name: "What they can see, and why" }).waitFor();
  });

  test("an admin finds the same people on their screen and in a space's settings", async () => {
    const { page, faults } = await visit("ada", { path: "/people" });
    const people = page.getByRole("main").getByText("Vic Viewer");
    await people.first().waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Research" }).click();
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("dialog").getByRole("combobox", { name: "Add a member" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("navigation").getByRole("link", { name: "People" }).click();
    await people.first().waitFor();
    expect(faults).toEqual([]);
  });

  test("the settings of a space say when its language is beyond the model", async () => {
    const { id } = await upload(stack.url, tenants.keys.owner, tenants.spaces.archive, "Text of a language.");
    await ended(stack.url, tenants.keys.owner, id);
    const measure = (auc: number) =>
      stack.database.db.owner.query(
        `insert into language_fits (organization_num, space_num, model_num, auc, pairs, chunks_measured)
         select organization.num, space.num, model.num, $2, 40, 1
         from spaces space
         join organizations organization on organization.id = space.organization_id
         cross join embedding_models model
         where space.id = $1
         on conflict (space_num, model_num) do update set auc = excluded.auc`,
        [tenants.spaces.archive, auc],
      );
    const { page } = await visit("ada");
    const told = page.getByRole("dialog").getByText("can barely distinguish the texts in this space");
    const open = async (): Promise<void> => {
      await openScreen(page, stack, `/spaces/${tenants.spaces.archive}`);
      await page.getByRole("button", { name: "Settings" }).click();
      await page.getByRole("dialog").getByRole("combobox", { name: "Add a member" }).waitFor();
    };
    await measure(0.95);
    await open();
    expect(await told.count()).toBe(0);
    await measure(0.54);
    await open();
    await told.waitFor();
  });
});
