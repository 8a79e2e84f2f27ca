/** Asks whether a dependency answers, with the same time limit for the API and the worker. */

/** Resolves if the dependency answers, rejects with anything if it does not. */
export type Probe = () => Promise<unknown>;

const PROBE_TIMEOUT_MS = 2_000;

/** True if it answers within two seconds. Never throws. */
export async function answersInTime(probe: Probe): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, false);
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
