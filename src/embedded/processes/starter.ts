/** Notices that the command which started this process is gone: what was killed hard passes no signal on. */

const LOOK_EVERY_MS = 500;

/**
 * Calls `onGone` once, with the name of the command, when npm has ended. A process that was started without npm is watched by
 * nobody here: its parent is a shell or a service manager, which it may well outlive.
 */
export function watchStarter(onGone: (name: string) => void): void {
  // oxlint-disable-next-line node/no-process-env -- npm's own word, no setting of ours
  const script = process.env["npm_lifecycle_event"];
  if (script !== "start" && script !== "dev") return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    // A process whose parent has ended is given another one.
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone(`npm (${script})`);
  }, LOOK_EVERY_MS).unref();
}
