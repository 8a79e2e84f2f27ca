interface OpenOnce<T> {
  /** Opens at the first call and keeps what was opened. After a failure the next call tries again. */
  readonly open: () => Promise<T>;
  /** What is open or being opened; undefined if nobody asked for it. */
  readonly opened: () => Promise<T> | undefined;
}

export function openOnce<T>(start: () => Promise<T>): OpenOnce<T> {
  let opened: Promise<T> | undefined;
  return {
    open() {
      opened ??= start().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    opened: () => opened,
  };
}
