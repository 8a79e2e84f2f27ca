/** Bounds what a page costs that many look at: one read serves all who ask meanwhile, and shortly after. */

/** @returns a function that repeats `read` at most every `ms`; an error is shared for as long. */
export function shareFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at >= ms)
      last = { at: performance.now(), value: read() };
    return last.value;
  };
}
