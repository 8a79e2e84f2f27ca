/** What axe finds wrong with a page, by the rules of WCAG 2.2 AA and its own of good practice. */
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * Looks at the page as it is now.
 * @returns one line for each fault, with the rule and the element; empty is good
 */
export async function violations(page: Page): Promise<string[]> {
  // By the protocol of the browser: the page's policy lets no text become a script.
  const session = await page.context().newCDPSession(page);
  try {
    await session.send("Runtime.evaluate", { expression: `${axe.source};undefined` });
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
      expression: `axe.run(document, ${JSON.stringify({ runOnly: RULES, resultTypes: ["violations"] })})`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(
        `axe could not run: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`,
      );
    const { violations: found } = result.value as AxeResults;
    return found.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(" ")} ${html.slice(0, 200)}`),
    );
  } finally {
    await session.detach();
  }
}
