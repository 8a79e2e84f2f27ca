/** Bounds how many calls run at once in this process; the others wait in order. */

interface Slots {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(atOnce: number): Slots {
  const waiting: Array<() => void> = [];
  let free = atOnce;
  return {
    async run(work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // A slot is handed on without being free in between.
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
