/**
 * One read serves all who ask while it runs and until `ms` have passed since its start; an error is shared
 * for as long.
 */
export function shareFor<T>(
  ms: number,
  read: () => Promise<T>,
  now: () => number = () => performance.now(),
): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (last === undefined || now() - last.at >= ms) last = { at: now(), value: read() };
    return last.value;
  };
}
