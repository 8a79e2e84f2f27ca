/** How long a dependency may take to answer a probe: the same for whoever asks whether this process is ready. */

/** Resolves where the dependency answers; rejects with anything where it does not. */
export type Probe = () => Promise<unknown>;

const PROBE_TIMEOUT_MS = 2_000;

/** Whether it answers within two seconds. Never throws. */
export async function answersInTime(probe: Probe): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, PROBE_TIMEOUT_MS, false)));
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
