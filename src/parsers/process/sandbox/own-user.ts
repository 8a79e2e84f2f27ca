/** The only place that hands out user ids to parser processes: each has one that no other process of the machine has. */

/** 2^28 ids that systemd's table of user ids leaves unused: 64 for each process id that Linux gives, 4,194,304 at most. */
const FIRST_ID = 1_879_048_192;
const IDS_PER_PROCESS = 64;

/** Of what only looks whether such a user can do its work. */
const PROBE_SLOT = IDS_PER_PROCESS - 1;

const taken = new Set<number>();

export interface OwnUser {
  /** User and group alike. */
  readonly id: number;
  /** After the process has ended. */
  release(): void;
}

/** @throws Error if this process has 63 of them. */
export function takeOwnUser(): OwnUser {
  const slot = Array.from({ length: PROBE_SLOT }, (_, index) => index).find((index) => !taken.has(index));
  if (slot === undefined) throw new Error(`A worker process has at most ${PROBE_SLOT} parser processes.`);
  taken.add(slot);
  return { id: idOf(slot), release: () => void taken.delete(slot) };
}

export function probeUserId(): number {
  return idOf(PROBE_SLOT);
}

function idOf(slot: number): number {
  return FIRST_ID + process.pid * IDS_PER_PROCESS + slot;
}
