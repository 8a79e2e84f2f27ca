/** Signs in to the console as people do: by the page of the development issuer. */
import type { Page } from "playwright-core";

/**
 * Opens an address of the console, and picks the person whose name or address is `who` at the issuer.
 * @param address the console's place, such as `http://127.0.0.1:8080/console`
 */
export async function signIn(
  page: Page,
  address: string,
  {
    who,
    path = "/",
    isOperator = false,
  }: { readonly who: string; readonly path?: string; readonly isOperator?: boolean },
): Promise<void> {
  await page.goto(address + path);
  await page.getByRole("button", { name: /^(?:Sign in|Anmelden)$/ }).click();
  if (isOperator) await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: who }).click();
  await page.locator("[data-live=live]").waitFor();
}
