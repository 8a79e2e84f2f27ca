/** Like `Promise.all`, but it rejects only after all have ended, so that nothing of them still runs. */
export async function settleAll<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [At in keyof T]: Awaited<T[At]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
