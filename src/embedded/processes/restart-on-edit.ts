/** What `npm run dev` does after an edit: migrates, and restarts API and worker but not the servers. */
import { messageOf } from "../start-error.ts";
import type { Supervisor } from "./supervise.ts";
import type { Edit } from "./watch-sources.ts";

interface RestartDeps {
  readonly supervisor: Pick<Supervisor, "restart">;
  /** Applies the migrations that the database lacks. @returns what it printed. */
  readonly migrate: () => Promise<string>;
  /** Prepares the next restart to shorten it; called while nobody waits. */
  readonly prepare: () => void;
  readonly onProgress: (line: string) => void;
  readonly stop: AbortSignal;
}

const RESTARTED = ["api", "worker"];
const MIGRATIONS = "db/migrations/";
/** Code of the process that watches the sources itself, which cannot restart itself. */
const OWN = "embedded/";
/** Code that both the API and the worker and the watching process use. */
const SHARED = ["config/", "process/"];
/** Commands load their code each time they are called. */
const COMMANDS = "cli/";
const SHOWN_FILES = 3;

/** Handles one edit after the other until the stop. */
export async function restartOnEdits(edits: AsyncIterable<Edit>, deps: RestartDeps): Promise<void> {
  const { onProgress, prepare, stop } = deps;
  // A migration that failed is applied before the next restart, whatever was edited.
  const owed = { migration: false };
  prepare();
  for await (const edit of edits) {
    try {
      await restartFor(edit, deps, owed);
    } catch (error) {
      if (!stop.aborted) onProgress(`${messageOf(error)}\nwaiting for the next edit`);
    }
    if (!stop.aborted) prepare();
  }
}

async function restartFor(
  { files, at }: Edit,
  { supervisor, migrate, onProgress }: RestartDeps,
  owed: { migration: boolean },
): Promise<void> {
  const own = files.filter((file) => [OWN, ...SHARED].some((folder) => file.startsWith(folder)));
  if (own.length > 0) onProgress(`${shown(own)} edited; restart "npm run dev" to use the change`);
  const others = files.filter((file) => !file.startsWith(OWN) && !file.startsWith(COMMANDS));
  if (others.length === 0) return;
  onProgress(`${shown(others)} edited; restarting the API and the worker …`);
  owed.migration ||= others.some((file) => file.startsWith(MIGRATIONS));
  if (owed.migration) onProgress(await migrate());
  owed.migration = false;
  const outcomes = await Promise.allSettled(RESTARTED.map((name) => supervisor.restart(name)));
  const errors = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [messageOf(outcome.reason)] : [],
  );
  if (errors.length > 0) throw new Error(errors.join("\n"));
  onProgress(`restarted in ${((performance.now() - at) / 1_000).toFixed(1)} s`);
}

function shown(files: readonly string[]): string {
  const names = files.slice(0, SHOWN_FILES).join(", ");
  return files.length > SHOWN_FILES ? `${names} and ${files.length - SHOWN_FILES} more` : names;
}
