/** The console while processes are killed or away: what it shows stays true, and goes on by itself. */
import { describe, expect, test } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { ended, upload } from "../support/clients/client.ts";
import { onKillableConsole } from "../support/console/on-console.ts";
import { unless } from "../support/run/unless.ts";
import { until } from "../support/until.ts";

describe("the console", unless(MISSING_BROWSER), () => {
  const { stack, tenants, visit } = onKillableConsole();
  const key = tenants.keys.owner;

  test("shows a document get ready although its worker is killed while it is watched", async () => {
    const { page } = await visit("ada", { path: `/spaces/${tenants.spaces.research}` });
    await stack.worker.kill("SIGKILL");
    const name = `${newId()}.md`;
    await page.getByLabel("Files…").setInputFiles({
      name,
      mimeType: "text/markdown",
      buffer: Buffer.from("# Survivor\n\nIt is processed by another worker.\n"),
    });
    const row = page.getByRole("row").filter({ hasText: name });
    await row.getByText("Queued", { exact: true }).waitFor();
    stack.restartWorker();
    await row.getByText("Ready", { exact: true }).waitFor();
  });

  test("says that it is behind while the API is away, and shows what happened when it is back", async () => {
    const { page } = await visit("ada", { path: `/spaces/${tenants.spaces.research}` });
    await stack.api.kill("SIGKILL");
    await page.locator("[data-live=behind]").waitFor();
    await stack.restartApi();
    const { id } = await upload(
      stack.url,
      key,
      tenants.spaces.research,
      `# Back again\n\n${newId()}\n`,
      "back-again.md",
    );
    await ended(stack.url, key, id);
    await page.locator("[data-live=live]").waitFor();
    await page
      .getByRole("row")
      .filter({ hasText: "back-again.md" })
      .getByText("Ready", { exact: true })
      .waitFor();
    expect(await page.getByText("Your session has ended").count()).toBe(0);
  });

  test("without a network the console says that it is behind, and catches up by itself", async () => {
    const { page, context } = await visit("ada", { path: `/spaces/${tenants.spaces.research}` });
    await page.locator("[data-live=live]").waitFor();
    await context.setOffline(true);
    await page.locator("[data-live=behind]").waitFor();
    const { id } = await upload(
      stack.url,
      key,
      tenants.spaces.research,
      `# Missed\n\n${newId()}\n`,
      "missed.md",
    );
    await ended(stack.url, key, id);
    await context.setOffline(false);
    await page.locator("[data-live=live]").waitFor();
    await page
      .getByRole("row")
      .filter({ hasText: "missed.md" })
      .getByText("Ready", { exact: true })
      .waitFor();
  });

  test("a token that the service refuses is renewed, and the screen does not notice", async () => {
    const { page } = await visit("ada");
    let refused = 0;
    await page.route("**/v1/data/search**", async (route) => {
      refused += 1;
      if (refused === 1) await route.fulfill({ status: 401, json: { detail: "Invalid access token" } });
      else await route.continue();
    });
    const renewed = page.waitForRequest((request) => request.url().includes("/token"));
    await page.getByRole("link", { name: "My documents" }).click();
    await renewed;
    await until("it was asked again", () => refused > 1);
    expect(await page.getByText("Your session has ended").count()).toBe(0);
  });
});
