/** The organization in a real browser: its audit log, budgets, webhooks and people. */
import { describe, expect, test } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { call } from "../support/clients/client.ts";
import { violations } from "../support/console/axe.ts";
import { onSharedConsole } from "../support/console/on-console.ts";
import { openScreen } from "../support/console/visitor.ts";
import { startReceiver } from "../support/events/receiver.ts";
import { unless } from "../support/run/unless.ts";
import { until } from "../support/until.ts";

describe("an organization", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onSharedConsole();

  test("an admin has the chain of the audit log checked, and learns of a row that was changed", async () => {
    const { owner } = stack.database.db;
    // Nothing is chained, also if this test is repeated or the chain was begun meanwhile.
    const unchain = async (): Promise<void> => {
      await owner.query(
        "update audit_log set chain_seq = null, chain_hash = null where organization_id = $1",
        [tenants.acme],
      );
      await owner.query("delete from audit_chains where organization_id = $1", [tenants.acme]);
    };
    await unchain();
    const { page, faults } = await visit("ada", { path: "/organization/audit" });
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByText("The chain is intact").waitFor();
    expect(await violations(page)).toEqual([]);
    // Its hash is that of nothing, as if somebody had written to the database.
    await unchain();
    await owner.query(
      `update audit_log
       set chain_seq = 1,
           chain_hash = ''
       where id = (select id from audit_log where organization_id = $1 and chain_seq is null limit 1)`,
      [tenants.acme],
    );
    await owner.query("insert into audit_chains (organization_id, seq) values ($1, 1)", [tenants.acme]);
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByRole("alert").filter({ hasText: "Row 1 of the chain was changed." }).waitFor();
    expect(faults).toEqual([]);
  });

  test("an admin sees why requests of a key were refused, and by which route", async () => {
    const { status } = await call(stack.url, tenants.keys.owner, "GET", `/data/${newId()}`);
    expect(status).toBe(404);
    const isWritten = async () =>
      (
        await stack.database.db.owner.query(
          "select from audit_log where organization_id = $1 and outcome like 'denied%'",
          [tenants.acme],
        )
      ).rows.length > 0;
    await until("the refusal is written", isWritten);
    const { page, faults } = await visit("ada", { path: "/organization/audit?outcome=denied" });
    const row = page.getByRole("row").filter({ hasText: "GET /v1/data/{document_id}" });
    await row.getByText("document_not_found").waitFor();
    await row.getByText("Denied", { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("usage shows the tokens of the month beside the budgets", async () => {
    const { page, faults } = await visit("ada", { path: "/organization/usage" });
    const row = page.getByRole("row").filter({ hasText: "The organization" });
    await row.getByText("No limit").waitFor();
    expect(faults).toEqual([]);
  });

  test("a webhook is made, tested, and a delivery is sent again", async () => {
    const receiver = await startReceiver();
    const { page, faults } = await visit("ada");
    try {
      await openScreen(page, stack, "/organization/webhooks");
      await page.getByRole("button", { name: "New webhook" }).click();
      const url = `${receiver.url}?${newId()}`;
      await page.getByRole("textbox", { name: "Address" }).fill(url);
      await page.getByRole("button", { name: "Create webhook" }).click();
      const secret = (await page.locator("[data-secret]").textContent())!;
      await page.getByRole("dialog").getByRole("button").last().click();
      expect(await page.content()).not.toContain(secret);
      await page.getByRole("row").filter({ hasText: url }).getByRole("link").click();
      await page.getByRole("button", { name: "Send test event" }).click();
      const again = page.getByRole("button", { name: "Redeliver webhook.test" });
      await again.waitFor();
      const tests = () => receiver.received.filter(({ body }) => body.includes("webhook.test"));
      expect(tests()).toHaveLength(1);
      await again.click();
      await until("it was delivered again", () => tests().length === 2);
      const [first, second] = tests();
      expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
      expect(faults).toEqual([]);
    } finally {
      await receiver.close();
    }
  });

  test("who is removed takes keys along, and that is said first", async () => {
    const { page, faults } = await visit("ada");
    const name = `Passing ${newId().slice(-6)}`;
    await openScreen(page, stack, "/people");
    await page.getByRole("button", { name: "Add a person" }).click();
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name" }).fill(name);
    await form.getByRole("textbox", { name: "E-mail address" }).fill(`${newId()}@${tenants.domain}`);
    await form.getByRole("button", { name: "Add", exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: name });
    await row.waitFor();
    await stack.database.db.owner.query(
      `insert into api_keys (id, organization_id, user_id, name, prefix, hash, all_spaces)
       select gen_random_uuid(), organization_id, id, 'A program', 'hf_x', decode(md5(id::text), 'hex'), true
       from users
       where name = $1`,
      [name],
    );
    await row.getByRole("button", { name: `Remove ${name}` }).click();
    const dialog = page.getByRole("dialog", { name: `Remove ${name} from the organization?` });
    await dialog.getByText("1 API key").waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });
});
