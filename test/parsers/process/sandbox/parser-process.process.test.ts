/**
 * What code that has taken over a parser process cannot do, tried inside of it; and that parsing still works.
 */

import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LiteParse } from "@llamaindex/liteparse";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { FileType } from "../../../../src/domain/file-type.ts";
import {
  createParserPool,
  PARSER_ENTRY,
  type ParserPool,
  type ParserPoolOptions,
} from "../../../../src/parsers/process/child-process.ts";
import { parserFor } from "../../../../src/parsers/index.ts";
import { prepareOcrData } from "../../../../src/parsers/pdf/ocr-data.ts";
import type { ParseInput } from "../../../../src/parsers/parser.ts";
import { prepareSandbox } from "../../../../src/parsers/process/sandbox/sandbox.ts";
import { makeDoc } from "../../../support/files/compound.ts";
import { makeLongPdf, makePdf } from "../../../support/files/text.ts";
import { makeDocx, makeEpub, makeOdf, makePptx, makeSheets, makeZip } from "../../../support/files/office.ts";
import { UNLESS_ROOT } from "../../../support/run/unless.ts";

const escaping = new URL("../../../support/processes/escaping-child.ts", import.meta.url);
const REFUSED = /^stopped: (ERR_ACCESS_DENIED|EACCES|EPERM|ENETUNREACH)$/;

let folder: string;
let server: Server;
let pool: ParserPool;
const open: ParserPool[] = [];

function poolOf(options: Partial<ParserPoolOptions>): ParserPool {
  const made = createParserPool({ size: 1, entry: escaping, folder, ...options });
  open.push(made);
  return made;
}

/** The result of an attempt by code in a parser process. */
async function tries(attempt: string, from = pool): Promise<string> {
  const { units } = await from.parse({ fileType: "TEXT", bytes: Buffer.from(attempt) });
  return units[0]?.text ?? "";
}

/** The result of an attempt while the process has a document as a file. */
async function triesWithFile(attempt: string, path: string, from = pool): Promise<string> {
  const { units } = await from.parse({ fileType: "TEXT", path, name: attempt });
  return units[0]?.text ?? "";
}

beforeAll(async () => {
  server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sandbox-test-"));
  // A parser process with a user of its own must be able to enter it.
  chmodSync(folder, 0o711);
  pool = poolOf({});
});
afterEach(async () => {
  for (const made of open.splice(0)) await made.close();
  rmSync(folder, { recursive: true });
});
afterAll(() => {
  server.close();
});

const port = (): number => (server.address() as AddressInfo).port;

const BY_NODE = [
  ["a file of the machine", "read /etc/passwd"],
  ["the listing of a folder", "list /"],
  ["the worker's environment", `read /proc/${process.pid}/environ`],
  ["the worker's memory", `read /proc/${process.pid}/mem`],
  ["the worker's open files", `list /proc/${process.pid}/fd`],
  ["the worker's map of memory", `read /proc/${process.pid}/maps`],
  [
    "a file of the project that is no code",
    `read ${fileURLToPath(new URL("../../../../README.md", import.meta.url))}`,
  ],
  ["writing its own code", `write ${fileURLToPath(escaping)}`],
  ["writing where every user may", `write ${join(tmpdir(), "sandbox-test-written")}`],
  ["a program", "spawn /bin/true"],
  ["a thread, to which Node's permission model does not apply", "thread /etc/passwd"],
] as const;

describe("without layers of the kernel, code in a parser process is refused", () => {
  test.each(BY_NODE)("%s", async (_what, attempt) => {
    const withoutLayers = prepareSandbox({ entry: escaping, folder, layers: [] });
    expect((await withoutLayers).on).toEqual(["permissions"]);
    expect(await tries(attempt, poolOf({ sandbox: withoutLayers }))).toBe("stopped: ERR_ACCESS_DENIED");
  });
});

describe("code in a parser process is refused", () => {
  test.each([...BY_NODE, ["a signal to the worker", "signalParent"] as const])(
    "%s",
    async (_what, attempt) => {
      expect(await tries(attempt)).toMatch(REFUSED);
    },
  );

  test("a connection", async () => {
    expect(await tries(`connect 127.0.0.1 ${port()}`)).toMatch(REFUSED);
    expect(await tries(`send 127.0.0.1 ${port()}`)).toMatch(REFUSED);
  });

  test("an addon outside of its readable folders, which Node's permission model would load", async () => {
    const [addon] = globSync(
      fileURLToPath(new URL("../../../../node_modules/@llamaindex/liteparse-*/*.node", import.meta.url)),
    );
    const elsewhere = join(folder, "elsewhere.node");
    copyFileSync(addon!, elsewhere);
    chmodSync(elsewhere, 0o644);
    expect(await tries(`load ${elsewhere}`)).toMatch(/^stopped: /);
    expect(await tries(`load ${addon}`)).not.toMatch(/denied|restricted|ERR_ACCESS/i);
  });

  test("the worker's user, its groups, and the user of any other parser", UNLESS_ROOT, async () => {
    const [one, other] = await Promise.all([tries("user"), tries("user", poolOf({}))]);
    const ids = [one, other].map((text) => text.split(" "));
    for (const [user, group, groups] of ids) {
      expect(Number(user)).toBeGreaterThanOrEqual(1_879_048_192);
      expect([group, groups]).toEqual([user, user]);
    }
    expect(one).not.toBe(other);
  });
});

describe("a document as a file", () => {
  const secret = "x".repeat(100);
  // Small documents are sent in a message.
  const large = Buffer.concat([Buffer.alloc(2 * 1024 * 1024, " "), Buffer.from(secret)]);

  test("can be read and not changed by the process that got it, and is removed afterwards", async () => {
    const path = join(folder, "mine.txt");
    writeFileSync(path, large, { mode: 0o600 });
    expect(await triesWithFile("readInput", path)).toBe(secret);
    expect(await triesWithFile("overwriteInput", path)).toMatch(REFUSED);
    expect(readFileSync(path).equals(large)).toBe(true);
    expect(readdirSync(join(await tries("ownFolder"), "input"))).toEqual([]);
  });

  test("cannot be read by another parser process, neither at its origin nor where it is placed", async () => {
    const holder = poolOf({});
    const path = join(folder, "theirs.txt");
    writeFileSync(path, secret, { mode: 0o644 });
    const placed = join(await tries("ownFolder", holder), "input", "document.txt");
    // The path at which a document would be placed.
    writeFileSync(placed, secret, { mode: 0o644 });
    expect(await tries(`read ${placed}`)).toMatch(REFUSED);
    expect(await tries(`read ${path}`)).toMatch(REFUSED);
  });

  test("may have any size if it is given as bytes", async () => {
    const { units } = await pool.parse({
      fileType: "TEXT",
      bytes: large,
      name: "readInput",
    } satisfies ParseInput);
    expect(units[0]?.text).toBe(secret);
  });
});

test("a process can write to its own scratch folder, which is removed with it", async () => {
  expect(await tries("writeScratch")).toBe("written");
  const own = await tries("ownFolder");
  expect(own.startsWith(folder)).toBe(true);
  await pool.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("a document of each kind gives the same behind all layers as without", async () => {
  const [page] = await new LiteParse({ quiet: true, dpi: 130 }).screenshot(
    makePdf([[{ text: "The harbour office opens at seven.", size: 16, y: 700 }]]),
    [1],
  );
  const trained = mkdtempSync(join(tmpdir(), "holdfast-ocr-"));
  onTestFinished(() => rmSync(trained, { recursive: true }));
  const ocr = await prepareOcrData(["eng"], trained);
  const documents: readonly (readonly [FileType, Buffer])[] = [
    ["PDF", makeLongPdf(60)],
    ["PDF", Buffer.concat([makeLongPdf(3), Buffer.alloc(2 * 1024 * 1024, " ")])],
    ["PNG", page!.imageBuffer],
    ["ZIP", await makeZip({ "picture.png": page!.imageBuffer, "inner.docx": await makeDocx() })],
    ["DOCX", await makeDocx()],
    ["DOC", makeDoc({ body: ["A letter from before."] })],
    ["PPTX", await makePptx()],
    ["XLSX", makeSheets("xlsx")],
    ["XLS", makeSheets("biff8")],
    ["ODT", await makeOdf("text", "<text:p>Written elsewhere.</text:p>")],
    ["EPUB", await makeEpub(["<h1>One</h1><p>It began.</p>"])],
    ["HTML", Buffer.from("<h1>Title</h1><p>Text.</p>")],
    ["CSV", Buffer.from("name,count\nbolt,4\n")],
    ["RTF", Buffer.from("{\\rtf1\\ansi A letter.\\par}")],
    [
      "EML",
      Buffer.from("From: ann@example.org\r\nSubject: Oil\r\nContent-Type: text/plain\r\n\r\nChanged.\r\n"),
    ],
    ["JSON", Buffer.from('{"name": "bolt"}')],
    ["MARKDOWN", Buffer.from("# Title\n\nText.\n")],
    ["TEXT", Buffer.from("Text.\n")],
  ];
  const real = poolOf({ entry: PARSER_ENTRY, ocr });
  for (const [fileType, bytes] of documents) {
    const parsed = await real.parse({ fileType, bytes });
    const without = await parserFor(fileType).parse({ fileType, bytes, ocr });
    expect(without.units).not.toEqual([]);
    expect({ fileType, ...parsed }).toEqual({ fileType, ...without });
  }
});
