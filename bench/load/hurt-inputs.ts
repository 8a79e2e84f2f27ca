/** What the hostile tenant of bench:hurt sends: each of these inputs once held others up for seconds. */
import { request } from "node:http";
import { LiteParse } from "@llamaindex/liteparse";
import { call, ended, upload } from "../../test/support/clients/client.ts";
import { makePdf } from "../../test/support/files/text.ts";
import type { Stack } from "../../test/support/stack/stack.ts";
import { AGENTS, KEYS, SPACES } from "../../test/support/tenants/tenants.ts";

/** Sends as the editor of the organization Acme. */
export interface Sender {
  readonly stack: Stack;
  /** Documents that it uploaded and that may not be processed yet. */
  readonly documents: string[];
}

export interface HostileInput {
  readonly name: string;
  /** Called once, before anything is measured. */
  prepare?(sender: Sender): Promise<void>;
  /** Sends it once; resolves when it was answered, which for an upload is long before it is parsed. */
  send(sender: Sender): Promise<void>;
  /** True if the victim belongs to the sender's own organization; then only its uploads are measured. */
  readonly isAtHome?: boolean;
  /** The most times it is sent in a row, because it is many documents already. */
  readonly most?: number;
}

const MEGABYTE = 1024 * 1024;
let sent = 0;

async function uploadFile(
  { stack, documents }: Sender,
  content: string | Uint8Array<ArrayBuffer>,
  name: string,
): Promise<string> {
  const { id } = await upload(stack.url, KEYS.editor, SPACES.research, content, `${sent++}-${name}`);
  documents.push(id);
  return id;
}

const file = (name: string, filename: string, content: string): HostileInput => ({
  name,
  async send(sender) {
    await uploadFile(sender, content, filename);
  },
});
const frontMatter = (inside: string): string => `---\n${inside}\n---\n\nThe text of the note.\n`;
const counted = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join("");

/** 4 MB: lists 90 deep, and in them a million numbers. */
const DEEP_NUMBERS = Buffer.from(
  `{"payloads":${"[".repeat(90)}${"1234,".repeat(800_000)}1${"]".repeat(90)}}`,
);

/** JSON bodies of nearly the limit, by their shape. */
export const JSON_BODIES: Readonly<Record<string, () => string | Buffer>> = {
  "lists 90 deep around 800,000 numbers": () => DEEP_NUMBERS,
  "a list of 2,000,000 digits": () => `{"query":[${"1,".repeat(2_000_000)}1]}`,
  "1,300,000 empty objects": () => `{"query":[${"{},".repeat(1_300_000)}1]}`,
  "2,000,000 brackets, nested": () => `{"query":${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}}`,
  "400,000 keys": () => `{${counted(400_000, (key) => `"${key}":1,`)}"a":1}`.slice(0, 4 * MEGABYTE),
  "600,000 times the same key": () => `{${'"a":1,'.repeat(600_000)}"a":1}`,
  "one text": () => `{"query":"${"a".repeat(4_000_000)}"}`,
  "one text of escapes": () => `{"query":"${"\\u0041".repeat(690_000)}"}`,
  "one key": () => `{"${"k".repeat(4_000_000)}":1}`,
  "halves of surrogate pairs": () => `{"query":["${'\\ud800","'.repeat(450_000)}"]}`,
  "one number": () => `{"limit":${"9".repeat(4_000_000)}}`,
  "bytes that are no UTF-8": () =>
    Buffer.concat([Buffer.from('{"query":"'), Buffer.alloc(4_000_000, 0xff), Buffer.from('"}')]),
  "never closed": () => `{"query":[${'{"a":['.repeat(680_000)}`,
  "white space": () => `${" ".repeat(4_000_000)}{}`,
};

/**
 * Posts the body and returns the status after the whole answer has arrived. It takes Node's own client and a
 * buffer, because the sender shares its event loop with the victim: `fetch` takes tens of milliseconds of it
 * for a text of 4 MB.
 */
export function postRaw(url: string, key: string | null, body: Buffer): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "content-length": body.length,
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers }, (response) => {
      response
        .resume()
        .on("end", () => resolve(response.statusCode ?? 0))
        .on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}

async function expectStatus(status: number, least: number, most: number): Promise<void> {
  if (status < least || status > most) throw new Error(`answered ${status}`);
}

/** Makes pages of 55 full lines, 5 KB each, with text that no other document has. */
function largePdf(megabytes: number): Uint8Array<ArrayBuffer> {
  const mark = sent++;
  const line = (page: number, row: number): string =>
    `Document ${mark}, page ${page}, line ${row}: the vessel is inspected before it leaves the basin.`;
  const pages = Math.ceil((megabytes * MEGABYTE) / 5_600);
  return new Uint8Array(
    makePdf(
      Array.from({ length: pages }, (_, page) =>
        Array.from({ length: 55 }, (_line, row) => ({ text: line(page, row), size: 9 })),
      ),
    ),
  );
}

let scan: Uint8Array<ArrayBuffer> | undefined;

/** Makes a picture of a page of text, as a scanner does. */
async function prepareScan(): Promise<void> {
  const lines = Array.from({ length: 40 }, (_, row) => ({
    text: `Line ${row}: the harbour office opens at seven on every working day.`,
    size: 12,
    y: 740 - row * 17,
  }));
  const [page] = await new LiteParse({ quiet: true, dpi: 200 }).screenshot(makePdf([lines]), [1]);
  scan = new Uint8Array(page!.imageBuffer);
}

/** Uploads 18 notes, a scan and a long page at once. */
async function sendTwenty(sender: Sender): Promise<void> {
  const notes = Array.from({ length: 18 }, (_, index) =>
    uploadFile(sender, `A short note, number ${sent + index}, of the harbour.`, "note.md"),
  );
  await Promise.all([
    uploadFile(sender, scan!, "scan.png"),
    uploadFile(sender, `# Long\n\n${"The vessel is inspected again. ".repeat(30_000)}`, "long.md"),
    ...notes,
  ]);
}

let textId: string | undefined;
let noteIds: string[] = [];

/** Uploads many small documents, for batches of one document each. */
async function prepareNotes(sender: Sender): Promise<void> {
  noteIds = [];
  for (let note = 0; note < 200; note += 1)
    noteIds.push(await uploadFile(sender, `Note ${note} of the harbour.`, "note.md"));
  for (const id of noteIds) await ended(sender.stack.url, KEYS.editor, id, 120_000);
}

const pdfs = (count: number, megabytes: number): HostileInput => ({
  name: `${count} PDFs of ${megabytes} MB, own organization`,
  isAtHome: true,
  most: 3,
  async send(sender) {
    await Promise.all(
      Array.from({ length: count }, () => uploadFile(sender, largePdf(megabytes), "large.pdf")),
    );
  },
});

export const HOSTILE_INPUTS: readonly HostileInput[] = [
  file("front matter, 400 pairs", "a.md", frontMatter("? ".repeat(400))),
  file("front matter, 600 pairs", "a.md", frontMatter("? ".repeat(600))),
  file(
    "front matter, flow map of 12,000 keys",
    "a.md",
    frontMatter(`a: {${counted(12_000, (key) => `k${key}: v, `)}}`),
  ),
  file("front matter, 8,000 plain keys", "a.md", frontMatter(counted(8_000, (key) => `k${key}: v\n`))),
  {
    name: "4 MB to /codec/decode, no credentials",
    send: async ({ stack }) =>
      expectStatus(await postRaw(`${stack.url}/codec/decode`, null, DEEP_NUMBERS), 400, 499),
  },
  {
    name: "4 MB to a JSON route, with credentials",
    send: async ({ stack }) =>
      expectStatus(await postRaw(`${stack.url}/v1/data/hybrid-search`, KEYS.editor, DEEP_NUMBERS), 400, 499),
  },
  {
    name: "text of a heading of 100 KB over 1,000 paragraphs",
    async prepare(sender) {
      textId = await uploadFile(
        sender,
        `# ${"word ".repeat(20_000)}\n\n${"text\n\n".repeat(1_000)}`,
        "heading.md",
      );
      await ended(sender.stack.url, KEYS.editor, textId, 120_000);
    },
    send: async ({ stack }) =>
      expectStatus(
        (await call(stack.url, KEYS.editor, "GET", `/data/${textId!}/text?limit=1000`)).status,
        200,
        200,
      ),
  },
  file("750 KB of <div>", "a.html", "<div>".repeat(150_000)),
  file("750 KB of <b>", "a.html", "<b>".repeat(250_000)),
  file("a run of 200,000 backticks in JSON", "a.json", "`".repeat(200_000)),
  {
    name: "100,000 backticks from the model",
    async send({ stack }) {
      const messages = [{ role: "user", content: "backticks, please" }];
      await expectStatus(
        (
          await call(stack.url, KEYS.editor, "POST", "/chat/completions", {
            model: AGENTS.analyst,
            messages,
            stream: true,
          })
        ).status,
        200,
        200,
      );
    },
  },
  file("a chunk without a word, zeros from the provider", "a.md", `${"… ".repeat(200)}\n`),
  {
    name: "a note, deleted at once",
    async send(sender) {
      const id = await uploadFile(sender, "A short note of the harbour.", "note.md");
      sender.documents.pop();
      await expectStatus(
        (await call(sender.stack.url, KEYS.editor, "DELETE", `/data/${id}`)).status,
        200,
        299,
      );
    },
  },
  {
    name: "a batch of one document",
    prepare: prepareNotes,
    send: async ({ stack }) =>
      expectStatus(
        (
          await call(stack.url, KEYS.editor, "POST", "/data/batch-reprocess", {
            document_ids: [noteIds[sent++ % noteIds.length]],
          })
        ).status,
        200,
        299,
      ),
  },
  {
    name: "20 files at once, a scan and a long page among them",
    prepare: prepareScan,
    send: sendTwenty,
    most: 20,
  },
  {
    name: "20 files at once, own organization",
    prepare: prepareScan,
    send: sendTwenty,
    isAtHome: true,
    most: 20,
  },
  pdfs(3, 2.5),
  pdfs(10, 2.5),
];

/**
 * What the hostile tenant's model answers. A run that ends with another character is the dearest to parse.
 */
export const backticks = (): string[] => [`${"`".repeat(100_000)}a`];
