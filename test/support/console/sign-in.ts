/** Signs in to the console as people do: by the page of the development issuer. */
import type { Page } from "playwright-core";

export interface SignInOptions {
  /** The name or the address of the person. */
  readonly who: string;
  /** The screen to open. */
  readonly path?: string;
  readonly isOperator?: boolean;
}

/**
 * Opens an address of the console, picks the person at the issuer, and returns when a screen is there and
 * live.
 * @param address the console's place, such as `http://127.0.0.1:8080/console`
 */
export async function signIn(
  page: Page,
  address: string,
  { who, path = "/", isOperator = false }: SignInOptions,
): Promise<void> {
  await page.goto(address + path);
  await page.getByRole("button", { name: /^(?:Sign in|Anmelden)$/ }).click();
  await pickPerson(page, who, { isOperator });
  await page.locator("[data-live=live]").waitFor();
}

/**
 * Picks the person on the issuer's page. It lists only the first hundred people, so they are searched for.
 */
export async function pickPerson(
  page: Page,
  who: string,
  { isOperator = false }: { readonly isOperator?: boolean } = {},
): Promise<void> {
  await page.getByRole("searchbox").fill(who);
  await page.getByRole("searchbox").press("Enter");
  if (isOperator) await page.getByRole("checkbox").check();
  await page.locator("button[name=person]").filter({ hasText: who }).click();
}
