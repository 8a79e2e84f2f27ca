/** The only place that knows which headings a unit stands under. */

export interface OpenHeading {
  readonly level: number;
  readonly text: string;
}

export interface HeadingPath {
  /** The path of a heading of this level (1–6), itself last; the deeper and equal ones before it end here. */
  enter(level: number, text: string): readonly string[];
  /** The path of anything that follows. */
  current(): readonly string[];
  /** The headings of the path, from which another one can go on. */
  open(): readonly OpenHeading[];
}

/** Starts at the top of a document, under no heading, or where another path was left. */
export function createHeadingPath(from: readonly OpenHeading[] = []): HeadingPath {
  let open: readonly OpenHeading[] = from;
  let path: readonly string[] = from.map((heading) => heading.text);
  return {
    enter(level, text) {
      open = [...open.filter((heading) => heading.level < level), { level, text }];
      path = open.map((heading) => heading.text);
      return path;
    },
    current: () => path,
    open: () => open,
  };
}
