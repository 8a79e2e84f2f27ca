/** The byte-pair tokenizers of OpenAI models, in time linear in the text. */

export interface BytePairTokens {
  readonly count: (text: string) => number;
  /** Offsets [start, end) in UTF-16 units. Of a character's several tokens only the last is not empty. */
  readonly offsets: (text: string) => Array<[number, number]>;
  /** The text of token ids, for one of OpenAI's models. @throws Error for an id that it does not have. */
  readonly decode: ((tokens: readonly number[]) => string) | undefined;
}

interface Encoding {
  setMergeCacheSize(size: number): void;
  encode(text: string, options: { disallowedSpecial: Set<string> }): number[];
  decode(tokens: Iterable<number>): string;
  decodeGenerator(tokens: Iterable<number>): Generator<string, void, void>;
}

/** `<|endoftext|>` and the like are plain text if a document holds them. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * The merge takes time square in the length of an unbroken run of letters, or of spaces: 100,000 Chinese
 * characters took 39 s. Runs longer than 256 are cut, which adds at most one token for each cut.
 */
const LONG_RUN = /\S{257}|\s{257}/u;
const CUTS = /(\S{256}|\s{256})/u;

function parts(text: string): string[] {
  return LONG_RUN.test(text) ? text.split(CUTS).filter((part) => part !== "") : [text];
}

const KNOWN = /^(gpt-|o\d|chatgpt-|text-embedding-(3-|ada-002))/;

/** `cl100k_base` for embeddings and models before GPT-4o, `o200k_base` for all others. */
function encodingOf(model: string): "cl100k_base" | "o200k_base" {
  return /^(gpt-3\.5|gpt-4(-|$)|text-embedding-)/.test(model) ? "cl100k_base" : "o200k_base";
}

/**
 * Merged words that the library keeps. Each use of one deletes it from a Map and sets it again, which is slow
 * if the Map is large: 1 MB of `a|a|a|` took 31 s with the library's own 100,000 words, and takes 0.4 s with
 * these. Text of one kind has few words that need merging.
 */
const KEPT_WORDS = 1_000;

async function loadEncoding(model: string): Promise<Encoding> {
  // Its tables take 0.2 s and 60 MB: only a process that uses a provider pays for them.
  const encoding: Encoding = await (encodingOf(model) === "cl100k_base"
    ? import("gpt-tokenizer/encoding/cl100k_base")
    : import("gpt-tokenizer/encoding/o200k_base"));
  encoding.setMergeCacheSize(KEPT_WORDS);
  return encoding;
}

function partOffsets(encoding: Encoding, text: string, base: number): Array<[number, number]> {
  const offsets: Array<[number, number]> = [];
  let read = 0;
  let at = base;
  function* counted(): Generator<number> {
    for (const token of encoding.encode(text, PLAIN_TEXT)) {
      read++;
      yield token;
    }
  }
  // A piece of text comes out as soon as its characters are whole, however many tokens went in for it.
  for (const piece of encoding.decodeGenerator(counted())) {
    while (offsets.length < read - 1) offsets.push([at, at]);
    if (offsets.length < read) {
      offsets.push([at, at + piece.length]);
      at += piece.length;
    }
  }
  while (offsets.length < read) offsets.push([at, at]);
  const last = offsets.at(-1);
  // A lone surrogate is encoded as the replacement character, which has the same length. Whatever else
  // differs, the last token ends with the text.
  if (last !== undefined) last[1] = base + text.length;
  return offsets;
}

/**
 * The tokenizer of a model; for a model that is not OpenAI's its counts are an estimate.
 *
 * @example `test/models/tokens/byte-pair.test.ts`
 */
export async function loadBytePairTokens(model: string): Promise<BytePairTokens> {
  const encoding = await loadEncoding(model);
  return {
    decode: KNOWN.test(model) ? (tokens) => encoding.decode(tokens) : undefined,
    count: (text) => parts(text).reduce((total, part) => total + encoding.encode(part, PLAIN_TEXT).length, 0),
    offsets(text) {
      const all: Array<[number, number]> = [];
      let base = 0;
      for (const part of parts(text)) {
        for (const offset of partOffsets(encoding, part, base)) all.push(offset);
        base += part.length;
      }
      return all;
    },
  };
}
