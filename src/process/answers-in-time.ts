/** Asks whether a dependency answers, with the same time limit for the API and the worker. */

import { stoodStill } from "./standstill.ts";

/** Resolves if the dependency answers, rejects with anything if it does not. */
export type Probe = () => Promise<unknown>;

const PROBE_TIMEOUT_MS = 2_000;
/** How often the time begins anew, because this process stood still and the answer may lie there unread. */
const MOST_EXTENSIONS = 3;

/** True if it answers within 2 s in which this process stood still for under a fifth. Never throws. */
export async function answersInTime(probe: Probe): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    const wait = (extensions: number): void => {
      timer = setTimeout(() => {
        if (extensions < MOST_EXTENSIONS && stoodStill(PROBE_TIMEOUT_MS)) wait(extensions + 1);
        else resolve(false);
      }, PROBE_TIMEOUT_MS);
    };
    wait(0);
  });
  const answered = probe().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}
