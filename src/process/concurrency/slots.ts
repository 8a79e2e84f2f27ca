/** Bounds how many calls run at once in this process, and how many of them are one owner's. */

interface Slots {
  /** Runs the work when its turn has come: owners take turns, and the calls of one go in their order. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

interface Bounds {
  readonly atOnce: number;
  readonly ofOwner: number;
}

export function createSlots({ atOnce, ofOwner }: Bounds): Slots {
  /** The owner whose turn is next comes first. */
  const waiting = new Map<string, Array<() => void>>();
  const running = new Map<string, number>();
  let free = atOnce;

  const hasRoom = (owner: string): boolean => free > 0 && (running.get(owner) ?? 0) < ofOwner;

  const take = (owner: string): void => {
    free -= 1;
    running.set(owner, (running.get(owner) ?? 0) + 1);
  };

  const give = (owner: string): void => {
    free += 1;
    const left = (running.get(owner) ?? 0) - 1;
    if (left > 0) running.set(owner, left);
    else running.delete(owner);
    for (const [next, calls] of waiting) {
      if (!hasRoom(next)) continue;
      take(next);
      const begin = calls.shift();
      waiting.delete(next);
      if (calls.length > 0) waiting.set(next, calls);
      begin?.();
      return;
    }
  };

  return {
    async run(owner, work) {
      if (hasRoom(owner)) take(owner);
      else
        await new Promise<void>((resolve) => {
          const calls = waiting.get(owner);
          if (calls === undefined) waiting.set(owner, [resolve]);
          else calls.push(resolve);
        });
      try {
        return await work();
      } finally {
        give(owner);
      }
    },
  };
}
