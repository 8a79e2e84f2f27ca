/** What the header of a chunk says, and that it never takes room from the text. */
import { expect, test } from "vitest";
import {
  MAX_HEADER_CHARS,
  MAX_HEADER_TOKENS,
  headerOf,
  textToEmbed,
  textsToEmbed,
} from "../../../src/activities/pipeline/chunk-header.ts";
import { contentHash } from "../../../src/activities/pipeline/content-hash.ts";
import { createEmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { createLocalMiniLm } from "../../../src/models/embedding/local-minilm.ts";

const model = createLocalMiniLm({ embedsSoon: false });

const header = (title: string, path: string[], content = "They run."): string =>
  headerOf(title, { text: content, metadata: { format: "text", word_count: 2, heading_path: path } });

test("the title and the headings, outermost first, each once", () => {
  expect(header("Foxes", ["Europe", "Red fox"])).toBe("Foxes\nEurope\nRed fox");
  expect(header("Foxes", ["FOXES", " Red\n fox "])).toBe("Foxes\nRed fox");
  expect(header("", ["Europe"])).toBe("Europe");
  expect(header("", [])).toBe("");
});

test("what the chunk begins with is not said twice", () => {
  expect(header("Foxes", ["Foxes", "Food"], "Foxes\n\nFood\n\nMice.")).toBe("");
  expect(header("Foxes", ["Foxes", "Food"], "Food\n\nMice.")).toBe("Foxes");
  expect(header("A survey of foxes", [], "A survey\tof foxes\nThey run.")).toBe("");
  // A sentence that begins like the title does not say it.
  expect(header("Foxes", [], "Foxes run.")).toBe("Foxes");
  expect(header("Foxes", ["Food"], "They run.\n\nFood\n\nMice.")).toBe("Foxes\nFood");
});

test("a long path keeps the title and the innermost headings, whole words only", () => {
  const long = (name: string): string => `${name} ${"word ".repeat(50).trim()}`;
  const lines = header("Fox", [long("one"), long("two"), "three"]).split("\n");
  expect(lines).toEqual(["Fox", expect.stringMatching(/^one( word)+$/), long("two"), "three"]);
  expect(lines[1]).not.toBe(long("one"));
  expect(lines.join("\n").length).toBeLessThanOrEqual(MAX_HEADER_CHARS);
});

test("hostile headings stay within the bounds and are whole characters", () => {
  const titles = [
    "🦊".repeat(5_000),
    "x".repeat(100_000),
    "\u202Eتقرير \u200Fالثعلب ".repeat(500),
    "\uD83E".repeat(900),
  ];
  for (const title of titles) {
    const levels = Array.from({ length: 10_000 }, (_, at) => `${title.slice(0, 50)} ${at}`);
    const made = header(title.toWellFormed(), levels);
    expect(made.length).toBeLessThanOrEqual(MAX_HEADER_CHARS);
    expect(made.isWellFormed()).toBe(true);
    const embedded = textToEmbed({ header: made, text: "They run." }, model);
    expect(embedded.isWellFormed()).toBe(true);
    expect(model.countTokens(embedded)).toBeLessThanOrEqual(
      MAX_HEADER_TOKENS + model.countTokens("They run."),
    );
  }
});

test("the embedded text is the header and the whole text, within what the model reads", () => {
  const made = "A survey of foxes in Europe\nOf what they eat\nMice and voles";
  const words = (count: number): string => Array.from({ length: count }, () => "fox").join(" ");
  expect(textToEmbed({ header: made, text: "They run." }, model)).toBe(`${made}\nThey run.`);
  for (const tokens of [236, 240, 245, 250, 255, 256, 300]) {
    const text = words(tokens);
    const embedded = textToEmbed({ header: made, text }, model);
    expect(embedded.endsWith(text)).toBe(true);
    expect(model.countTokens(embedded)).toBeLessThanOrEqual(Math.max(model.maxTokens, tokens));
    const cut = embedded.slice(0, -text.length).split("\n").filter(Boolean);
    expect(
      cut.filter((line) => !made.split("\n").some((whole) => `${whole} `.startsWith(`${line} `))),
    ).toEqual([]);
  }
  expect(textToEmbed({ header: made, text: words(250) }, model)).toBe(
    `A survey of foxes in Europe\n${words(250)}`,
  );
  expect(textToEmbed({ header: made, text: words(256) }, model)).toBe(words(256));
});

test("a provider's model, whose tokens are others, keeps the whole text of its longest chunks too", async () => {
  const provided = await createEmbeddingModel({
    baseUrl: "http://127.0.0.1:9/v1",
    embeddingModel: "text-embedding-3-small",
  });
  const made = "A survey of foxes in Europe\nOf what they eat\nMice and voles";
  const embed = async (spare: number) => {
    const text = " fox".repeat(provided.maxTokens - spare).trim();
    const [embedded] = await textsToEmbed([{ header: made, text }], provided);
    return { text, embedded: embedded! };
  };
  for (const spare of [0, 1, 2, 3, 7, 8, 9, 20, 100]) {
    const { text, embedded } = await embed(spare);
    expect(embedded.endsWith(text)).toBe(true);
    expect(provided.countTokens(embedded)).toBeLessThanOrEqual(provided.maxTokens);
  }
  for (const spare of [20, 100]) {
    const { text, embedded } = await embed(spare);
    expect(embedded).toBe(`${made}\n${text}`);
  }
});

test("a chunk without a header is embedded as versions before did, and shares their vectors", () => {
  const secret = Buffer.alloc(32, 1);
  for (const none of [null, ""]) {
    expect(textToEmbed({ header: none, text: "They run." }, model)).toBe("They run.");
    expect(contentHash(secret, "They run.", none)).toEqual(contentHash(secret, "They run."));
  }
  expect(contentHash(secret, "They run.", "Foxes")).not.toEqual(contentHash(secret, "They run."));
  expect(contentHash(secret, "They run.", "Foxes")).not.toEqual(contentHash(secret, "They run.", "Hares"));
  expect(contentHash(secret, "b\nc", "a")).not.toEqual(contentHash(secret, "c", "a\nb"));
});
