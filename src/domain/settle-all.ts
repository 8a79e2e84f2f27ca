/** As `Promise.all`, but a failure is told once all have ended: nothing of them is under way any more. */
export async function settleAll<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [At in keyof T]: Awaited<T[At]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
