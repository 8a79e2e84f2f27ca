/** The only place that knows which headings a unit stands under. */

export interface HeadingPath {
  /** The path of a heading of this level (1–6), itself last; the deeper and equal ones before it end here. */
  enter(level: number, text: string): readonly string[];
  /** The path of anything that follows. */
  current(): readonly string[];
}

/** Starts at the top of a document, under no heading. */
export function createHeadingPath(): HeadingPath {
  let open: { level: number; text: string }[] = [];
  let path: readonly string[] = [];
  return {
    enter(level, text) {
      open = [...open.filter((heading) => heading.level < level), { level, text }];
      path = open.map((heading) => heading.text);
      return path;
    },
    current: () => path,
  };
}
