/** What was typed of a form since `sent` was sent: it is not saved yet, and stays. */
export function changedSince<T extends object>(typed: Partial<T>, sent: Partial<T>): Partial<T> {
  const kept = Object.entries(typed).filter(([name, value]) => value !== sent[name as keyof T]);
  return Object.fromEntries(kept) as Partial<T>;
}
