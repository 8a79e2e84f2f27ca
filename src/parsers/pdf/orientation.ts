/** Reads pages whose text stands on its side or head: liteparse knows lines only in upright text. */

import type { ParsedPage } from "@llamaindex/liteparse";
import type { Turn } from "./layout/frame.ts";
import { LITEPARSE_CONFIG, type LiteParseConstructor } from "./liteparse.ts";
import type { ReadPage } from "./units.ts";

/** The pages, of which those that are turned are read again as if somebody had turned them back. */
export async function withUpright(
  pages: readonly ParsedPage[],
  source: () => Promise<string | Buffer>,
  Constructor: LiteParseConstructor,
): Promise<ReadPage[]> {
  const turns = new Map(
    pages.flatMap((page) => {
      const turn = turnOf(page);
      return turn === 0 ? [] : [[page.pageNum, turn] as const];
    }),
  );
  if (turns.size === 0) return [...pages];
  const parser = new Constructor({
    ...LITEPARSE_CONFIG,
    targetPages: [...turns.keys()].join(","),
    pageOrientationCorrections: [...turns].map(([page, angle]) => ({ page, angle })),
  });
  const { pages: upright } = await parser.parse(await source());
  const byNumber = new Map(upright.map((page) => [page.pageNum, page]));
  return pages.map((page) => {
    const turn = turns.get(page.pageNum);
    const again = byNumber.get(page.pageNum);
    return turn === undefined || again === undefined ? page : { ...again, turn };
  });
}

/** The clockwise angle of most characters of the page. */
function turnOf({ textItems }: ParsedPage): Turn {
  const characters = new Map<number, number>();
  let all = 0;
  for (const { text, rotation = 0 } of textItems) {
    const angle = (((Math.round(rotation / 90) % 4) + 4) % 4) * 90;
    characters.set(angle, (characters.get(angle) ?? 0) + text.length);
    all += text.length;
  }
  return ([90, 180, 270] as const).find((angle) => (characters.get(angle) ?? 0) > all / 2) ?? 0;
}
