/** Where a key moves the keyboard in a list of rows; undefined: the key does not move it. */
export function movedBy(key: string, active: number, { total, page }: { total: number; page: number }) {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: total - 1,
  };
  const to = moves[key];
  return to === undefined || total === 0 ? undefined : Math.max(0, Math.min(to, total - 1));
}
