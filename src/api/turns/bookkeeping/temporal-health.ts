/** The only place that knows whether Temporal answers, so that a turn that cannot be kept in the books is refused at once. */

export interface TemporalHealth {
  /** Milliseconds since Temporal was last known to be there; 0 while it is. */
  downForMs(): number;
  /** Told by whoever saw a call fail. */
  failed(error: unknown): void;
  /** Told that the workers poll, or that they have stopped. */
  setConnected(isConnected: boolean): void;
  stop(): void;
}

interface HealthDeps {
  /** One cheap call with a deadline. */
  readonly ping: () => Promise<void>;
  /** Told after each ping that failed. */
  readonly onDown: (downForMs: number) => void;
}

const PING_EVERY_MS = 500;
/** A busy machine answers late without being gone: this many time-outs in a row count as down. */
const TIMEOUTS_ALLOWED = 2;

/** Down until `setConnected(true)`, then by pings. */
export function watchTemporal({ ping, onDown }: HealthDeps): TemporalHealth {
  let isConnected = false;
  let timeouts = 0;
  let downSinceMs: number | null = Date.now();
  let isBusy = false;

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
  const timer = setInterval(() => {
    if (!isConnected || isBusy) return;
    isBusy = true;
    void ping()
      .then(up, failed)
      .finally(() => (isBusy = false));
  }, PING_EVERY_MS);
  timer.unref();

  return {
    downForMs: () => (downSinceMs === null ? 0 : Math.max(1, Date.now() - downSinceMs)),
    failed,
    setConnected(value) {
      isConnected = value;
      if (value) up();
      else downSinceMs ??= Date.now();
    },
    stop: () => clearInterval(timer),
  };
}

const DEADLINE_EXCEEDED = 4;

function isTimeout(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return typeof cause === "object" && cause !== null && "code" in cause && cause.code === DEADLINE_EXCEEDED;
}
