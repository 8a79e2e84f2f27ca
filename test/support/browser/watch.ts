/** Notes what a page must not do: break its policy, fail, complain, or ask another host. */
import type { Page } from "playwright-core";

/**
 * @param origins of the servers that it may ask
 * @returns the list, which grows while the page is used; empty is good
 */
export async function watchPage(page: Page, ...origins: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) seen.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => seen.push(`error: ${String(error)}`));
  page.on("requestfailed", (request) => {
    // A page that is left ends what it was still loading ahead.
    if (request.failure()?.errorText !== "net::ERR_ABORTED")
      seen.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on("request", (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (!["data:", "blob:"].includes(protocol) && !origins.includes(asked))
      seen.push(`another host: ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) seen.push(`${response.status()}: ${response.url()}`);
  });
  await page.exposeFunction("noteViolation", (text: string) => void seen.push(`policy: ${text}`));
  await page.addInitScript(`
    document.addEventListener("securitypolicyviolation", (event) => {
      const { violatedDirective, blockedURI, sourceFile, lineNumber } = event;
      noteViolation([violatedDirective, blockedURI, sourceFile, lineNumber].join(" "));
    });
  `);
  return seen;
}
