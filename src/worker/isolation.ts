/** Starts and stops the process for suspected documents, which runs only while there are some. */
import { DEADLINES, PAUSES } from "#timings";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { withoutLogin } from "../config/database-passwords.ts";
import type { Log } from "../process/log.ts";
import { wasStarved } from "../process/standstill.ts";
import type { AttemptIds } from "../temporal/lost-attempt.ts";
import { every } from "../process/concurrency/rounds.ts";

const ENTRY = new URL("./isolated-main.ts", import.meta.url);
/** Suspected documents come several at a time, and each may come back. */
const KEEP_IDLE_MS = 30_000;
const START_MS = 60_000;
const STOP_MS = 30_000;
/** A process that is silent for so long is ended even while the machine has too little processor time. */
const MOST_SILENCE_MS = 300_000;

interface IsolationDeps {
  readonly log: Log;
  /** Whether any organization has a suspected document to work on. */
  readonly isNeeded: () => Promise<boolean>;
  /** Called with the attempt that died with the process. If it fails, missing heartbeats tell Temporal. */
  readonly reportLost: (attempt: AttemptIds) => Promise<void>;
}

/** What the process sends to its parent: every second that it is alive, and each attempt before it begins. */
export type IsolationMessage = "alive" | { readonly current: AttemptIds | null };

interface Isolation {
  /** Stops the process in order, and resolves when it is gone. */
  stop(): Promise<void>;
}

/** `env` without the logins of maintenance and owner, which a suspected document must not reach. */
export function isolatedEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withoutLogin(withoutLogin(env, "DATABASE_MAINTENANCE"), "DATABASE_OWNER");
}

/**
 * Checks once a second whether the process is needed, and starts it again if it has died. It gets the
 * environment of {@link isolatedEnvironment}, and ends when this process ends, in whatever way.
 * @see test/workflows/poison-worker.nightly.test.ts
 */
export function keepIsolation({ log, isNeeded, reportLost }: IsolationDeps): Isolation {
  let child: ChildProcess | undefined;
  let neededAt = 0;
  let silentAt = 0;
  const start = (): void => {
    // oxlint-disable-next-line node/no-process-env -- passed on to the child; nothing is read from it here
    const started = fork(ENTRY, { env: isolatedEnvironment(process.env) });
    child = started;
    silentAt = performance.now() + START_MS;
    let current: AttemptIds | null = null;
    started.on("message", (message: IsolationMessage) => {
      silentAt = performance.now() + DEADLINES.isolationPulse;
      if (message !== "alive") current = message.current;
    });
    started.on("error", (error) => log.warn({ err: error }, "the process of suspected documents"));
    started.on("exit", (code, signal) => {
      child = undefined;
      if (code === 0) return;
      log.warn({ code, signal }, "the process of suspected documents ended");
      const report = (): void => {
        if (current !== null)
          reportLost(current).catch((error: unknown) =>
            log.warn({ err: error }, "a lost attempt could not be reported to Temporal"),
          );
      };
      // Its last message may not have arrived yet.
      if (started.connected) started.once("disconnect", report);
      else report();
    });
  };
  const round = async (): Promise<void> => {
    const now = performance.now();
    if (await isNeeded()) {
      neededAt = now;
      if (child === undefined) start();
    } else if (now - neededAt > KEEP_IDLE_MS) child?.kill("SIGTERM");
    // A document may also block the process for ever.
    if (now > silentAt + MOST_SILENCE_MS || (now > silentAt && !wasStarved(DEADLINES.isolationPulse)))
      child?.kill("SIGKILL");
  };
  const rounds = every(PAUSES.sweep, round, (error) =>
    log.warn({ err: error }, "could not check for suspected documents"),
  );
  return {
    async stop() {
      await rounds.stop();
      if (child === undefined) return;
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      const force = setTimeout(() => child?.kill("SIGKILL"), STOP_MS);
      await gone;
      clearTimeout(force);
    },
  };
}
