/** Compares the words of a chunk with those that another reader finds in its boxes. */

export interface Agreement {
  /** The share of the chunk's words that stand in its boxes. */
  readonly recall: number;
  /** The share of the words in its boxes that are the chunk's. */
  readonly precision: number;
}

/** Scripts without blanks have a word for each character. */
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])[\p{L}\p{N}\p{M}])+/gu;

export function tokensOf(text: string): string[] {
  return text.normalize("NFKC").toLowerCase().match(TOKEN) ?? [];
}

/**
 * First word by word. Readers part words at other places (`Ev ents`), and a hyphen at the end of a line may
 * be joined: what is left counts as read if it stands, without blanks, in what is left of the other side.
 */
export function agreement(chunk: readonly string[], inBoxes: readonly string[]): Agreement {
  const free = new Map<string, number>();
  for (const token of inBoxes) free.set(token, (free.get(token) ?? 0) + 1);
  const missing = chunk.filter((token) => !take(free, token));
  const rest = inBoxes.filter((token) => take(free, token));
  const recalled = chunk.length - missing.length + standIn(missing, rest.join(""));
  const precise = inBoxes.length - rest.length + standIn(rest, missing.join(""));
  return {
    recall: chunk.length === 0 ? 1 : recalled / chunk.length,
    precision: inBoxes.length === 0 ? (chunk.length === 0 ? 1 : 0) : precise / inBoxes.length,
  };
}

function take(free: Map<string, number>, token: string): boolean {
  const left = free.get(token) ?? 0;
  if (left > 0) free.set(token, left - 1);
  return left > 0;
}

function standIn(tokens: readonly string[], letters: string): number {
  let left = letters;
  let count = 0;
  for (const token of tokens) {
    const at = left.indexOf(token);
    if (at < 0) continue;
    left = `${left.slice(0, at)} ${left.slice(at + token.length)}`;
    count++;
  }
  return count;
}
