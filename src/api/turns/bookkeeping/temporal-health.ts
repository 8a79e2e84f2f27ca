/** Watches whether Temporal answers, so that nothing waits for workflows that could not be started. */
import { every } from "../../../process/concurrency/rounds.ts";

export interface TemporalHealth {
  /** How long Temporal has been down, in milliseconds; 0 while it answers. */
  downForMs(): number;
  /** Call it if a call to Temporal failed. */
  failed(error: unknown): void;
  /** Call it with true when the workers poll, with false when they have stopped. */
  setConnected(isConnected: boolean): void;
  stop(): void;
}

interface HealthDeps {
  /** One cheap call with a deadline. */
  readonly ping: () => Promise<void>;
  /** Called after each ping that failed. */
  readonly onDown: (downForMs: number) => void;
}

const PING_EVERY_MS = 500;
/** A busy server answers late without being down: one more time-out in a row than this counts as down. */
const TIMEOUTS_ALLOWED = 2;

/** Reports Temporal as down until `setConnected(true)`; from then on the pings decide. */
export function watchTemporal({ ping, onDown }: HealthDeps): TemporalHealth {
  let isConnected = false;
  let timeouts = 0;
  let downSinceMs: number | null = Date.now();

  const failed = (error: unknown): void => {
    timeouts = isTimeout(error) ? timeouts + 1 : 0;
    if (timeouts > 0 && timeouts <= TIMEOUTS_ALLOWED) return;
    downSinceMs ??= Date.now();
    onDown(Date.now() - downSinceMs);
  };
  const up = (): void => {
    timeouts = 0;
    downSinceMs = null;
  };
  const check = async (): Promise<void> => {
    if (!isConnected) return;
    await ping();
    up();
  };
  const pings = every(PING_EVERY_MS, check, failed);

  return {
    downForMs: () => (downSinceMs === null ? 0 : Math.max(1, Date.now() - downSinceMs)),
    failed,
    setConnected(value) {
      isConnected = value;
      if (value) up();
      else downSinceMs ??= Date.now();
    },
    stop: () => void pings.stop(),
  };
}

const DEADLINE_EXCEEDED = 4;

function isTimeout(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return typeof cause === "object" && cause !== null && "code" in cause && cause.code === DEADLINE_EXCEEDED;
}
