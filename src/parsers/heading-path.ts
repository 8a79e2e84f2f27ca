/** Tracks the headings under which each unit of a document is. */

export interface OpenHeading {
  readonly level: number;
  readonly text: string;
}

export interface HeadingPath {
  /** Opens a heading of this level (1–6), which closes equal and deeper ones. Returns its path with it. */
  enter(level: number, text: string): readonly string[];
  /** The path of whatever follows the last heading. */
  current(): readonly string[];
  /** The open headings, from which another path can continue. */
  open(): readonly OpenHeading[];
}

/** @param from Default: none, as at the start of a document; else the open headings to continue. */
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
