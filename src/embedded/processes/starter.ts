/** Notices that npm, which started this process, is gone: after a `kill -9` npm passes no signal on. */

const LOOK_EVERY_MS = 500;

/**
 * Calls `onGone` once, with the name of the command, when npm has ended. Does nothing in a process that was
 * not started by npm: its parent is a shell or a service manager, which it may outlive.
 */
export function watchStarter(onGone: (name: string) => void): void {
  // oxlint-disable-next-line node/no-process-env -- set by npm, not a setting of ours
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
