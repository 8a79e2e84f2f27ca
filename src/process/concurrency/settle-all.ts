/** Runs work at the same time, such that nothing of it still runs when the caller goes on. */

/** Like `Promise.all`, but it rejects only after all have ended, so that nothing of them still runs. */
export async function settleAll<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [At in keyof T]: Awaited<T[At]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** The results of `work` for all items, in their order, at most `places` at the same time. */
export async function mapAtMost<Item, Result>(
  places: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const drain = async (): Promise<void> => {
    for (const [at, item] of waiting) results[at] = await work(item);
  };
  await settleAll(Array.from({ length: Math.min(places, items.length) }, drain));
  return results;
}
