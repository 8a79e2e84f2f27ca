/** Folds refused requests of keys in the audit log: one row a minute for each key, route, action and code. */
import type { AuditEntry, CallingActor } from "../db/audit/append.ts";

const WINDOW_MS = 60_000;
/** One more takes the place of the oldest, whose row is written then. About 1 KB each. */
const MAX_WINDOWS = 5_000;

export interface Refusal extends Pick<
  AuditEntry,
  "action" | "resource_type" | "resource_id" | "space_id" | "request_id"
> {
  /** A method and a path with the names of its parameters. */
  readonly route: string;
  readonly code: string;
}

interface Window {
  readonly actor: CallingActor;
  readonly endsAt: number;
  /** The first one since the last row; undefined: none came. */
  first: Refusal | undefined;
  count: number;
}

export interface Refusals {
  /** The first one is written at once; those of the minute after it are written together, at its end. */
  note(actor: CallingActor, refusal: Refusal): void;
  /** Writes what is counted so far. */
  flush(): void;
  close(): void;
}

type Write = (actor: CallingActor, entry: AuditEntry) => void;

/** @param maxWindows how many are counted apart at the same time. */
export function createRefusals(write: Write, maxWindows = MAX_WINDOWS): Refusals {
  // In the order of their ends, because all are equally long.
  const windows = new Map<string, Window>();
  let timer: NodeJS.Timeout | undefined;

  function open(name: string, actor: CallingActor): void {
    windows.set(name, { actor, endsAt: Date.now() + WINDOW_MS, first: undefined, count: 0 });
    timer ??= setTimeout(closeEnded, WINDOW_MS).unref();
  }

  function closeEnded(): void {
    timer = undefined;
    for (const [name, window] of windows) {
      if (window.endsAt > Date.now()) break;
      windows.delete(name);
      if (written(window)) open(name, window.actor);
    }
    const [next] = windows.values();
    if (next !== undefined) timer ??= setTimeout(closeEnded, next.endsAt - Date.now()).unref();
  }

  function written({ actor, first, count }: Window): boolean {
    if (first === undefined) return false;
    write(actor, entryOf(first, count));
    return true;
  }

  function flush(): void {
    for (const window of windows.values()) {
      written(window);
      window.first = undefined;
      window.count = 0;
    }
  }

  return {
    note({ authMethod, apiKeyId, organization, user }, refusal) {
      const name = [apiKeyId, refusal.route, refusal.action, refusal.code].join("\n");
      const window = windows.get(name);
      if (window !== undefined) {
        window.first ??= refusal;
        window.count += 1;
        return;
      }
      const [oldest] = windows;
      if (windows.size >= maxWindows && oldest !== undefined) {
        windows.delete(oldest[0]);
        written(oldest[1]);
      }
      // Not the whole principal, which has all that its key reaches.
      const actor = { authMethod, apiKeyId, organization: { id: organization.id }, user: { id: user.id } };
      write(actor, entryOf(refusal, 1));
      open(name, actor);
    },
    flush,
    close() {
      clearTimeout(timer);
      flush();
      windows.clear();
    },
  };
}

function entryOf({ route, code, ...entry }: Refusal, count: number): AuditEntry {
  return { ...entry, outcome: "denied", details: { code, route, count } };
}
