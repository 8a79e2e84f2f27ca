/**
 * Measures receipts: whether a chunk's boxes hold its words, and what quotes cost an answer. `DIR` is a
 * folder of documents, `COLLECTIONS` one of retrieval's test collections; `SECTIONS`, by name and with commas
 * between, are all by default; with `VERBOSE` each document has a line of its own.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { machine, say } from "../report.ts";
import { boxes } from "./boxes.ts";
import { measureChat } from "./chat.ts";
import { ingest } from "./ingest.ts";
import { measurePages } from "./pages.ts";
import { parsing } from "./parsing.ts";
import { space } from "./space.ts";
import { measureSupport } from "./support.ts";
import { tables } from "./tables.ts";

interface Section {
  readonly title: string;
  run(folder: string): Promise<void>;
}

const isVerbose = process.env["VERBOSE"] !== undefined;

const SECTIONS: Readonly<Record<string, Section>> = {
  boxes: {
    title: "The words of chunks in their boxes",
    run: async (folder) => boxes(await pdfsIn(folder), { verbose: isVerbose }),
  },
  tables: {
    title: "Cells of tables whose source is known",
    run: (folder) => tables(folder, { verbose: isVerbose }),
  },
  space: {
    title: "Space of locations",
    run: (folder) => space(folder),
  },
  support: {
    title: "Support of statements by their sources",
    async run() {
      const collections = process.env["COLLECTIONS"];
      if (collections === undefined)
        say("left out: COLLECTIONS is no folder of collections in BEIR's format");
      else measureSupport(collections);
    },
  },
  chat: {
    title: "First token and end of an answer with ten citations",
    run: () => measureChat(),
  },
  ingest: {
    title: "Time of reading documents with and without locations",
    run: (folder) => ingest(folder),
  },
  parsing: {
    title: "Time of parsing",
    run: async (folder) => parsing(await pdfsIn(folder)),
  },
  pages: {
    title: "Time of a page as a picture",
    run: async (folder) => measurePages(await pdfsIn(folder)),
  },
};

async function pdfsIn(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files
    .filter((file) => file.toLowerCase().endsWith(".pdf"))
    .toSorted()
    .map((file) => join(folder, file));
}

const folder = process.env["DIR"];
if (folder === undefined) throw new Error("DIR must be a folder of documents");
const wanted = process.env["SECTIONS"]?.split(",") ?? Object.keys(SECTIONS);
say(machine());
for (const name of wanted) {
  const section = SECTIONS[name];
  if (section === undefined) throw new Error(`SECTIONS may be ${Object.keys(SECTIONS).join(", ")}`);
  say("");
  say(`## ${section.title}`);
  await section.run(folder);
}
