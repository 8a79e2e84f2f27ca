import { launchBrowser } from "./test/support/browser/chromium.ts";
import { signIn } from "./test/support/console/sign-in.ts";
import { watchPage } from "./test/support/browser/watch.ts";
const [, , out = "/tmp/shots", ...paths] = process.argv;
const address = process.env.CONSOLE ?? "http://127.0.0.1:8280/console";
const browser = await launchBrowser();
const scheme = process.env.DARK ? "dark" : "light";
const width = Number(process.env.W ?? 1440);
const context = await browser.newContext({
  viewport: { width, height: Number(process.env.H ?? 900) },
  colorScheme: scheme as any,
  locale: process.env.L ?? "en-GB",
});
const page = await context.newPage();
const faults = await watchPage(page, new URL(address).origin, "http://127.0.0.1:8090");
try {
  await signIn(page, address, {
    who: process.env.WHO ?? "ada@acme.example",
    isOperator: process.env.OP === "1",
  });
  for (const [i, p] of paths.entries()) {
    if (p.startsWith("js:")) {
      await page.evaluate(p.slice(3));
    } else if (p.startsWith("click:")) await page.getByText(p.slice(6)).first().click();
    else if (p.startsWith("button:"))
      await page
        .getByRole("button", { name: p.slice(7) })
        .first()
        .click();
    else if (p.startsWith("type:")) await page.keyboard.type(p.slice(5));
    else if (p.startsWith("key:")) await page.keyboard.press(p.slice(4));
    else if (p.startsWith("fill:")) {
      const [l, v] = p.slice(5).split("=");
      await page.getByLabel(l!).first().fill(v!);
    } else if (p.startsWith("wait:")) await page.waitForTimeout(Number(p.slice(5)));
    else if (p.startsWith("go:")) {
      await page.evaluate(
        (h) => {
          history.pushState(null, "", h);
          dispatchEvent(new PopStateEvent("popstate"));
        },
        new URL(address).pathname + p.slice(3),
      );
      await page.waitForTimeout(1200);
    } else {
      await page.waitForTimeout(300);
      await page.screenshot({ path: `${out}/${p}.png` });
    }
  }
} catch (e) {
  console.log(String(e));
  await page.screenshot({ path: `${out}/failed.png` });
  console.log(page.url(), (await page.textContent("body"))?.slice(0, 500));
}
console.log("faults", faults);
await browser.close();
