/** How people come into the console and leave it, in a real browser. */
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { consoleLink } from "../../src/embedded/servers/issuer-part.ts";
import { MISSING_BROWSER } from "../support/browser/chromium.ts";
import { violations } from "../support/console/axe.ts";
import { emailOf, onKillableConsole } from "../support/console/on-console.ts";
import { pickPerson } from "../support/console/sign-in.ts";
import { screenShown } from "../support/console/visitor.ts";
import { unless } from "../support/run/unless.ts";
import { until } from "../support/until.ts";

const SCHEMES = ["light", "dark"] as const;

describe("the sign-in", unless(MISSING_BROWSER), () => {
  const { stack, tenants, open, openAsStranger, visit } = onKillableConsole();

  test("leads by the issuer to the screen that was asked for, and asks nobody else", async () => {
    const { page, faults } = await visit("ada", { path: "/keys" });
    expect(new URL(page.url()).pathname).toBe("/console/keys");
    expect(new URL(page.url()).search).toBe("");
    expect(faults).toEqual([]);
  });

  test("by the printed link asks for no secret, which leaves the address, the history and all further requests", async () => {
    const { page, faults } = await openAsStranger();
    const asked: string[] = [];
    page.on("request", (one) => asked.push(`${one.url()} ${JSON.stringify(one.headers())}`));
    await page.goto(consoleLink(stack.issuer, stack.secret));
    await page.getByRole("button", { name: "Sign in" }).click();
    await pickPerson(page, emailOf(tenants, "ada"));
    await screenShown(page);
    expect(new URL(page.url()).origin).toBe(stack.url);
    expect(asked.filter((one) => one.includes(stack.secret))).toHaveLength(1);
    const session = await page.context().newCDPSession(page);
    const { entries } = await session.send("Page.getNavigationHistory");
    expect(entries.map(({ url }) => url).join(" ")).not.toContain(stack.secret);
    expect(faults).toEqual([]);
  });

  test("without the link asks for the secret once, and goes on", async () => {
    const { page, context } = await openAsStranger();
    await page.goto(`${stack.url}/console/keys`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Unlock the development issuer" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel("Secret").fill("0".repeat(64));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Secret").fill(stack.secret);
    await page.getByRole("button", { name: "Continue" }).click();
    await pickPerson(page, emailOf(tenants, "ada"));
    await screenShown(page);
    expect(new URL(page.url()).pathname).toBe("/console/keys");
    const other = await context.newPage();
    await other.goto(`${stack.issuer}/sign-in/again`);
    await other.getByText("This sign-in has ended").waitFor();
  });

  test("keeps tokens in memory alone, and a reload gets new ones without a question", async () => {
    const { page, faults } = await visit("ada", { path: "/keys" });
    const kept = async (): Promise<string> =>
      JSON.stringify(await page.evaluate("[{ ...localStorage }, { ...sessionStorage }, document.cookie]"));
    expect(await kept()).not.toContain("eyJ");
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("prompt=none")) asked.push(request.url());
    });
    await page.reload();
    await screenShown(page);
    expect(asked).toHaveLength(1);
    expect(new URL(page.url()).pathname).toBe("/console/keys");
    expect(await kept()).not.toContain("eyJ");
    expect(faults).toEqual([]);
  });

  test("ends at the sign-out, at the issuer too", async () => {
    const { page, faults } = await visit("ada");
    await page.getByRole("button", { name: "Account and preferences" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign in again" }).click();
    await pickPerson(page, emailOf(tenants, "vic"));
    await screenShown(page);
    expect(faults).toEqual([]);
  });

  test("asks again if the issuer has forgotten the session", async () => {
    const { page } = await visit("vic", { path: "/search" });
    await stack.stopIssuer();
    await stack.startIssuer();
    await page.reload();
    await page.getByRole("button", { name: "Sign in" }).click();
    await pickPerson(page, emailOf(tenants, "vic"));
    await screenShown(page);
    expect(new URL(page.url()).pathname).toBe("/console/search");
  });

  test("says so while the issuer cannot be reached, and works once it can", async () => {
    await stack.stopIssuer();
    const { page } = await open();
    await page.goto(`${stack.url}/console/`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Cannot reach the sign-in service.").waitFor();
    await stack.startIssuer();
    await page.getByRole("button", { name: "Sign in" }).click();
    await pickPerson(page, emailOf(tenants, "ada"));
    await screenShown(page);
  });

  test("the development issuer answers under the names of this machine alone", async () => {
    const statusFor = (host: string) =>
      new Promise<number>((resolve, reject) => {
        const { port } = new URL(stack.issuer);
        const asked = request({ host: "127.0.0.1", port, path: "/jwks", headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode!);
        });
        asked.on("error", reject).end();
      });
    const { host, port } = new URL(stack.issuer);
    expect(await statusFor(host)).toBe(200);
    expect(await statusFor(`localhost:${port}`)).toBe(200);
    expect(await statusFor(`rebound.example:${port}`)).toBe(421);
  });

  test("refuses an answer that no sign-in of this tab has asked for", async () => {
    const { page } = await open();
    await page.goto(`${stack.url}/console/callback?code=stolen&state=made-up`);
    await page.getByRole("heading", { name: "Sign-in failed" }).waitFor();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  });

  test("offers operations to operators alone", async () => {
    const operator = await visit("ada", { isOperator: true });
    await operator.page.getByRole("link", { name: "Operations" }).waitFor();
    const admin = await visit("ada");
    await admin.page.getByRole("link", { name: "API keys" }).waitFor();
    expect(await admin.page.getByRole("link", { name: "Operations" }).count()).toBe(0);
  });

  test.each(SCHEMES)("has pages without a fault of accessibility, in %s", async (colorScheme) => {
    const { page } = await open({ colorScheme });
    await page.goto(`${stack.url}/console/`);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("searchbox").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("speaks German to who prefers it", async () => {
    const { page, faults } = await visit("ada", { window: { locale: "de-DE" } });
    await page.getByRole("link", { name: "API-Schlüssel" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
    expect(faults).toEqual([]);
  });

  test("would be caught by what watches the pages", async () => {
    const { page, faults } = await open();
    await page.goto(`${stack.url}/console/`);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.evaluate(`
      document.body.append(document.createElement("button"));
      new Image().src = "https://elsewhere.example/x.png";
    `);
    await expect(
      page.evaluate("document.createElement('script').text = 'window.ran = true'"),
    ).rejects.toThrow("TrustedScript");
    await until("both are noticed", () =>
      ["img-src", "require-trusted-types-for"].every((rule) =>
        faults.some((fault) => fault.startsWith(`policy: ${rule}`)),
      ),
    );
    expect(faults).toContainEqual("another host: https://elsewhere.example/x.png");
    expect(await violations(page)).toContainEqual(expect.stringContaining("button-name"));
  });
});
