/**
 * Measures the console in a real browser whose processor is slowed, over a space of many documents: from the
 * issuer's callback to the list, from screen to screen, scrolling, and typing while an answer is streamed.
 */
import { Command } from "commander";
import type { Page } from "playwright-core";
import { launchBrowser } from "../../test/support/browser/chromium.ts";
import { type ConsoleStack, startConsole } from "../../test/support/console/start.ts";
import { signIn } from "../../test/support/console/sign-in.ts";
import { newVisitor, openScreen } from "../../test/support/console/visitor.ts";
import setup from "../../test/support/run/global-setup.ts";
import { ACME, AGENTS, SPACES } from "../../test/support/tenants/tenants.ts";
import { insertManyDocuments } from "../documents/many-documents.ts";
import { machine, percentile, say } from "../report.ts";
import { SCROLLING, TYPING, WATCH_SCROLLING, WATCH_TYPING, timeToScreen } from "./probes.ts";

interface Options {
  readonly documents: string;
  readonly slower: string;
  readonly rounds: string;
}

const ADA = "ada@acme.example";
const LIST = `/spaces/${SPACES.research}`;
const SCREENS = ["/search", "/chat", "/agents", "/people", "/keys"];
const GOALS = { callbackMs: 1_500, screenMs: 150, taskMs: 100, keyMs: 50 };
/** About a screen of rows at each turn of the wheel. */
const WHEEL_POINTS = 600;
const WHEEL_TURNS = 200;
const WHEEL_PAUSE_MS = 30;
const TYPED = "how often does the gearbox oil have to be changed, and who says so? ".repeat(2);
/** An answer that is longer than the typing takes. */
const LONG_ANSWER = {
  pieces: Array.from({ length: 2_000 }, (_, at) => `word${at} `),
  delayMsBetweenPieces: 10,
};

function figure(what: string, value: number, goal: number): void {
  say(`${what}: ${value.toFixed(0)} ms (goal ${goal} ms)${value <= goal ? "" : "  OVER"}`);
}

async function slow(page: Page, rate: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate });
}

async function fill({ database }: ConsoleStack, count: number): Promise<void> {
  const { owner } = database.db;
  const { rows } = await owner.query<{ id: string }>("select id from users where email = $1", [ADA]);
  await insertManyDocuments(owner, {
    organizationId: ACME,
    spaceId: SPACES.research,
    userId: rows[0]!.id,
    count,
  });
}

/** Reloads the list, which leads through the issuer, and measures from its answer to the first row. */
async function measureCallbacks(page: Page, rounds: number): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const callback = page.waitForRequest(
      (request) => new URL(request.url()).pathname === "/console/callback",
    );
    await page.reload({ waitUntil: "commit" });
    await callback;
    const startedAt = performance.now();
    await page
      .getByText(/^file-\d+\.md$/)
      .first()
      .waitFor();
    times.push(performance.now() - startedAt);
  }
  figure("callback to the list, worst", Math.max(...times), GOALS.callbackMs);
}

/** The first visit of each loads its files, and is measured too. */
async function measureScreens(page: Page, rounds: number): Promise<void> {
  const paths = [...SCREENS, LIST];
  const times = paths.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [at, path] of paths.entries())
      times[at]!.push(await page.evaluate<number>(timeToScreen(`/console${path}`)));
  figure("screen to screen, p95", percentile(times.flat(), 0.95), GOALS.screenMs);
  for (const [at, path] of paths.entries()) {
    const [first, ...later] = times[at]!.map((time) => time.toFixed(0));
    say(`  ${path === LIST ? "the list" : path}: ${first} ms at the first visit, then ${later.join(", ")}`);
  }
}

async function measureScrolling(page: Page): Promise<void> {
  await page
    .getByText(/^file-\d+\.md$/)
    .first()
    .hover();
  await page.evaluate(WATCH_SCROLLING);
  for (let turn = 0; turn < WHEEL_TURNS; turn += 1) {
    await page.mouse.wheel(0, WHEEL_POINTS);
    await page.waitForTimeout(WHEEL_PAUSE_MS);
  }
  const seen = await page.evaluate<{ longest: number; frames: number; blank: number }>(SCROLLING);
  figure("scrolling, longest task", seen.longest, GOALS.taskMs);
  say(`scrolling, frames with a blank row: ${seen.blank} of ${seen.frames}${seen.blank > 0 ? "  OVER" : ""}`);
}

async function measureTyping(page: Page, stack: ConsoleStack): Promise<void> {
  stack.provider.replyAlways(LONG_ANSWER);
  await openScreen(page, stack, `/chat?agent=${AGENTS.analyst}`);
  const input = page.locator("main#content").getByRole("textbox").last();
  await input.fill("Tell me everything.");
  await input.press("Enter");
  await page.getByText("word10 ").first().waitFor();
  await page.evaluate(WATCH_TYPING);
  await input.pressSequentially(TYPED, { delay: 60 });
  const times = await page.evaluate<number[]>(TYPING);
  figure(`typing during a stream, ${times.length} keys, p95`, percentile(times, 0.95), GOALS.keyMs);
}

async function main({ documents, slower, rounds }: Options): Promise<void> {
  say(`${machine()}, slowed ${slower} times, ${documents} documents`);
  const stop = await setup();
  const stack = await startConsole();
  const browser = await launchBrowser();
  try {
    await fill(stack, Number(documents));
    const { page } = await newVisitor(browser, stack);
    await signIn(page, `${stack.url}/console`, { who: ADA, path: LIST });
    await slow(page, Number(slower));
    await measureCallbacks(page, Number(rounds));
    await measureScrolling(page);
    await measureScreens(page, Number(rounds));
    await measureTyping(page, stack);
  } finally {
    await browser.close();
    await stack.close();
    await stop();
  }
}

await new Command()
  .option("--documents <count>", "documents in the list", "100000")
  .option("--slower <times>", "how many times slower the browser's processor is", "4")
  .option("--rounds <count>", "how often each is measured", "20")
  .action(main)
  .parseAsync();
process.exit();
