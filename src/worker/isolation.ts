/** The only place that starts and stops the process in which suspected documents are worked on: it is there only while there are some. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { withoutLogin } from "../config/database-passwords.ts";
import type { Log } from "../process/log.ts";
import type { AttemptInHand } from "../temporal/lost-attempt.ts";
import { every } from "./rounds.ts";

const ENTRY = new URL("./isolated-main.ts", import.meta.url);
const ROUND_MS = 1_000;
/** Suspected documents come many at a time, and each may come back. */
const KEEP_IDLE_MS = 30_000;
/** Longer than Temporal waits for a heartbeat: it has given the document to another by then. */
const SILENCE_MS = 15_000;
const START_MS = 60_000;
const STOP_MS = 30_000;

interface IsolationDeps {
  readonly log: Log;
  /** Whether anybody has a suspected document to work on. */
  readonly isNeeded: () => Promise<boolean>;
  /** Told what the process had in hand when it died: without this, the heartbeat that Temporal misses says so later. */
  readonly reportLost: (attempt: AttemptInHand) => Promise<void>;
}

/** What the process tells the one that started it: each second that it lives, and what it has in hand, before it begins with it. */
export type IsolationMessage = "alive" | { readonly inHand: AttemptInHand | null };

interface Isolation {
  /** Stops the process in order, and resolves when it is gone. */
  stop(): Promise<void>;
}

/** `env` without the logins of maintenance and of the owner: a suspected document has no business with them. */
export function isolatedEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withoutLogin(withoutLogin(env, "DATABASE_MAINTENANCE"), "DATABASE_OWNER");
}

/**
 * Looks once a second whether the process is needed. One that died is started anew with the next look: what killed it is the
 * document that it had in hand, and nothing else was. It gets this process's environment but for two logins, and ends with it, however that ends.
 */
export function keepIsolation({ log, isNeeded, reportLost }: IsolationDeps): Isolation {
  let child: ChildProcess | undefined;
  let neededAt = 0;
  let silentAt = 0;
  const start = (): void => {
    // oxlint-disable-next-line node/no-process-env -- handed on; nothing is read from it here
    const started = fork(ENTRY, { env: isolatedEnvironment(process.env) });
    child = started;
    silentAt = performance.now() + START_MS;
    let inHand: AttemptInHand | null = null;
    started.on("message", (message: IsolationMessage) => {
      silentAt = performance.now() + SILENCE_MS;
      if (message !== "alive") ({ inHand } = message);
    });
    started.on("error", (error) => log.warn({ err: error }, "the process of suspected documents"));
    started.on("exit", (code, signal) => {
      child = undefined;
      if (code === 0) return;
      log.warn({ code, signal }, "the process of suspected documents ended");
      const report = (): void => {
        if (inHand !== null)
          reportLost(inHand).catch((error: unknown) =>
            log.warn({ err: error }, "Temporal could not be told of a lost attempt"),
          );
      };
      // What it said last may still be on its way.
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
    // A document may also keep it from ever doing anything else.
    if (now > silentAt) child?.kill("SIGKILL");
  };
  const rounds = every(ROUND_MS, round, (error) =>
    log.warn({ err: error }, "suspected documents could not be looked for"),
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
