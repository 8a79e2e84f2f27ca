/** What axe finds wrong with a page, by the rules of WCAG 2.2 AA and its own of good practice. */
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What can differ between light and dark. */
export const OF_COLORS = ["color-contrast", "link-in-text-block"] as const;

/**
 * Looks at the page as it is now.
 * @param rules only these; all by default
 * @returns one line for each fault, with the rule and the element; empty is good
 */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // By the protocol of the browser: the page's policy lets no text become a script.
  const session = await page.context().newCDPSession(page);
  try {
    const runOnly = rules === undefined ? RULES : { type: "rule", values: rules };
    await session.send("Runtime.evaluate", { expression: `${axe.source};undefined` });
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
      expression: `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ["violations"] })})`,
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
