/** Gives each parser process a user id that no other process of the machine has. */

/**
 * The first of 2^28 ids that systemd's table of user ids leaves unused: 64 for each process id, of which
 * Linux has at most 4,194,304.
 *
 * @see https://systemd.io/UIDS-GIDS/
 */
const FIRST_ID = 1_879_048_192;
const IDS_PER_PROCESS = 64;

/** The slot for testing whether such a user can do its work. */
const PROBE_SLOT = IDS_PER_PROCESS - 1;

const taken = new Set<number>();

export interface OwnUser {
  /** The id of the user and of its group. */
  readonly id: number;
  /** To be called after the process has ended. */
  release(): void;
}

/** @throws Error if this worker process uses all of its 63 ids. */
export function takeOwnUser(): OwnUser {
  const slot = Array.from({ length: PROBE_SLOT }, (_, index) => index).find((index) => !taken.has(index));
  if (slot === undefined) throw new Error(`A worker process has at most ${PROBE_SLOT} parser processes.`);
  taken.add(slot);
  return {
    id: idOf(slot),
    release() {
      taken.delete(slot);
    },
  };
}

export function probeUserId(): number {
  return idOf(PROBE_SLOT);
}

function idOf(slot: number): number {
  return FIRST_ID + process.pid * IDS_PER_PROCESS + slot;
}
