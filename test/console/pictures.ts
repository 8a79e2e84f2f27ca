/**
 * Makes the pictures of the console for the docs: `npm run console:pictures`, or with names of screens after
 * `--` only those. They show the demo's documents, in a real browser; look at them.
 */
import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { launchBrowser } from "../support/browser/chromium.ts";
import { call, ended, upload } from "../support/clients/client.ts";
import { type ConsoleStack, startConsole } from "../support/console/start.ts";
import { signIn } from "../support/console/sign-in.ts";
import { newVisitor, openScreen } from "../support/console/visitor.ts";
import setup from "../support/run/global-setup.ts";
import { AGENTS, KEYS, SPACES } from "../support/tenants/tenants.ts";

const ROOT = join(import.meta.dirname, "../..");
const OUT = join(ROOT, "docs/console");
const WINDOW = { width: 1440, height: 900 };
const MANUAL = "turbine-manual.pdf";
const QUESTION = "How often does the gearbox oil have to be changed?";
const ANSWER = {
  pieces: [
    "“Change the gearbox oil every 18 months ",
    "or 9,000 hours of operation, whichever comes first.”",
    " [1]",
  ],
  delayMsBetweenPieces: 20,
};

interface World {
  readonly stack: ConsoleStack;
  /** The id of the document with pages. */
  readonly manual: string;
}

interface Picture {
  readonly colorScheme: "light" | "dark";
  address(world: World): string;
  /** What is done on the screen before it is taken. */
  prepare?(page: Page): Promise<void>;
}

const PICTURES: Readonly<Record<string, Picture>> = {
  space: { colorScheme: "light", address: () => `/spaces/${SPACES.research}` },
  document: {
    colorScheme: "light",
    address: () => `/chat?agent=${AGENTS.analyst}`,
    async prepare(page) {
      await askIn(page);
      await page
        .getByRole("link", { name: /^Source 1:/ })
        .first()
        .click();
      await page.getByText("Genuine:").waitFor();
      await page.getByRole("img", { name: /^Picture of page/ }).waitFor();
    },
  },
  search: {
    colorScheme: "dark",
    address: () =>
      `/search?q=${encodeURIComponent("gearbox oil")}&other=${encodeURIComponent('{"limit":5,"perDocument":1}')}`,
  },
  chat: {
    colorScheme: "light",
    address: () => `/chat?agent=${AGENTS.analyst}`,
    prepare: askIn,
  },
  agent: { colorScheme: "light", address: () => `/agents/${AGENTS.librarian}` },
  operations: { colorScheme: "dark", address: () => "/operations" },
};

async function askIn(page: Page): Promise<void> {
  const question = page.getByRole("textbox", { name: "Your question" });
  await question.fill(QUESTION);
  await question.press("Enter");
  await page.getByRole("heading", { name: "Sources" }).waitFor();
}

/** Uploads the demo's documents, some of them into folders. @returns the id of the manual */
async function fillSpace({ url }: ConsoleStack): Promise<string> {
  const folder = join(ROOT, "demo/documents");
  const files = [join(ROOT, "demo", MANUAL), ...(await readdir(folder)).map((name) => join(folder, name))];
  for (const name of ["Contracts", "Reports"])
    await call(url, KEYS.owner, "POST", "/folders", { name, space_id: SPACES.research });
  const documents = await Promise.all(
    files.map(async (path) =>
      upload(url, KEYS.owner, SPACES.research, new Uint8Array(await readFile(path)), path.split("/").at(-1)),
    ),
  );
  for (const { id } of documents) await ended(url, KEYS.owner, id);
  return documents[0].id as string;
}

async function take(browser: Browser, name: string, world: World): Promise<void> {
  const { colorScheme, address, prepare } = PICTURES[name]!;
  const { page, close } = await newVisitor(browser, world.stack, { viewport: WINDOW, colorScheme });
  await signIn(page, `${world.stack.url}/console`, { who: "ada@acme.example", isOperator: true });
  await openScreen(page, world.stack, address(world));
  await prepare?.(page);
  await page.evaluate("document.fonts.ready");
  await page.waitForLoadState("load");
  const path = join(OUT, `${name}.png`);
  await sharp(await page.screenshot({ animations: "disabled", caret: "hide" }))
    .png({ palette: true, compressionLevel: 9 })
    .toFile(path);
  process.stdout.write(`${path}\n`);
  await close();
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => PICTURES[name] === undefined);
if (unknown.length > 0)
  throw new Error(`No picture: ${unknown.join(", ")}. There are: ${Object.keys(PICTURES).join(", ")}`);
const stop = await setup();
const stack = await startConsole();
const browser = await launchBrowser();
try {
  stack.provider.replyAlways(ANSWER);
  await mkdir(OUT, { recursive: true });
  const world = { stack, manual: await fillSpace(stack) };
  for (const name of asked.length > 0 ? asked : Object.keys(PICTURES)) await take(browser, name, world);
} finally {
  await browser.close();
  await stack.close();
  await stop();
}
process.exit();
