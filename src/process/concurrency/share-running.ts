/**
 * Lets those who ask for the same key while it is being looked up share that look-up; nothing is kept after.
 * @example const share = shareRunning<Row>(); const row = await share(id, () => find(id));
 */
export function shareRunning<T>(): (key: string, ask: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key, ask) => {
    const shared = running.get(key) ?? ask().finally(() => running.delete(key));
    running.set(key, shared);
    return shared;
  };
}

/** One read serves all who ask until `ms` have passed since its start; an error is shared as long. */
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
