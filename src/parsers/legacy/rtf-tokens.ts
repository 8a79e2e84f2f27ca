/** Reads the syntax of RTF: groups, control words, and characters, decoded by the current code page. */

export type RtfToken =
  | { readonly kind: "open" }
  | { readonly kind: "close" }
  | { readonly kind: "word"; readonly name: string; readonly value: number | undefined }
  | { readonly kind: "text"; readonly text: string };

/** Names by which TextDecoder knows code pages whose name is not `windows-<number>`. */
const CODE_PAGES: Readonly<Record<number, string>> = {
  437: "windows-1252",
  708: "iso-8859-6",
  850: "windows-1252",
  852: "windows-1250",
  866: "ibm866",
  874: "windows-874",
  932: "shift_jis",
  936: "gb18030",
  949: "euc-kr",
  950: "big5",
  10000: "macintosh",
  65001: "utf-8",
};

/** Code pages by the number of `\fcharset`. */
const FONT_CODE_PAGES: Readonly<Record<number, number>> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

export function codePageOfFont(charset: number): number | undefined {
  return FONT_CODE_PAGES[charset];
}

function decodeCodePage(bytes: Buffer, codePage: number): string {
  return decoderOf(codePage).decode(bytes);
}

type Decoder = InstanceType<typeof TextDecoder>;

const decoders = new Map<number, Decoder>();

function decoderOf(codePage: number): Decoder {
  let decoder = decoders.get(codePage);
  if (decoder === undefined) {
    decoder = makeDecoder(CODE_PAGES[codePage] ?? `windows-${codePage}`);
    if (decoders.size < 64) decoders.set(codePage, decoder);
  }
  return decoder;
}

function makeDecoder(name: string): Decoder {
  try {
    return new TextDecoder(name);
  } catch {
    return new TextDecoder("windows-1252");
  }
}

/**
 * A character by its hexadecimal code, a control word, a control symbol, a brace, or plain characters. One
 * literal, so that test/project/regular-expressions.test.ts checks it.
 */
const SYNTAX =
  /\\'(?<hex>[0-9a-fA-F]{2})|\\(?<word>[a-zA-Z]{1,32})(?<digits>-?\d{1,10})? ?|\\(?<symbol>[^a-zA-Z])|(?<brace>[{}])|(?<plain>[^\\{}\r\n]+)|[\r\n]+|\\/g;

/**
 * The tokens in order. Adjacent bytes are decoded together, since a character may have several.
 *
 * @param source Latin-1: one character for each byte.
 * @param codePage Called at the end of each run of bytes.
 */
export function* rtfTokens(source: string, codePage: () => number): Generator<RtfToken> {
  const syntax = new RegExp(SYNTAX);
  let bytes = "";
  for (let match = syntax.exec(source); match !== null; match = syntax.exec(source)) {
    const found = match.groups ?? {};
    const characters = plainCharacters(found);
    if (characters !== undefined) {
      bytes += characters;
      continue;
    }
    const token = controlToken(found);
    if (token === undefined) continue;
    if (bytes !== "") yield { kind: "text", text: decodeCodePage(Buffer.from(bytes, "latin1"), codePage()) };
    bytes = "";
    if (token.kind === "word" && token.name === "bin") syntax.lastIndex += Math.max(token.value ?? 0, 0);
    else yield token;
  }
  if (bytes !== "") yield { kind: "text", text: decodeCodePage(Buffer.from(bytes, "latin1"), codePage()) };
}

function plainCharacters({ hex, symbol, plain }: Record<string, string | undefined>): string | undefined {
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  return symbol !== undefined && "\\{}".includes(symbol) ? symbol : plain;
}

function controlToken({
  word,
  digits,
  symbol,
  brace,
}: Record<string, string | undefined>): RtfToken | undefined {
  if (word !== undefined)
    return { kind: "word", name: word, value: digits === undefined ? undefined : Number(digits) };
  if (symbol !== undefined) return { kind: "word", name: symbol, value: undefined };
  return brace === undefined ? undefined : { kind: brace === "{" ? "open" : "close" };
}
