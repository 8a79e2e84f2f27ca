/**
 * The uploads of this tab: a few at once, whatever screen is shown. One that breaks off goes on by itself
 * with its Idempotency-Key, so that it becomes one document.
 */
import { ConnectionError, HoldfastError, RateLimitError, newKey } from "@holdfast/client";
import type { Chosen } from "./dropped.ts";

/** `broken`: it is tried again in a while, or once there is a network. */
type UploadState = "waiting" | "sending" | "broken" | "refused" | "cancelled" | "done";

export interface Upload {
  readonly id: string;
  readonly name: string;
  readonly folder: string;
  readonly size: number;
  readonly state: UploadState;
  /** The share that is sent, 0 to 1. */
  readonly share: number;
  /** Why it was refused or broke off. */
  readonly error: unknown;
}

interface UploadsView {
  readonly counts: Readonly<Record<UploadState, number>>;
  readonly total: number;
  readonly bytes: number;
  readonly sentBytes: number;
  /** What is under way or needs somebody first; the longest that is shown. */
  readonly shown: readonly Upload[];
}

export interface Sending {
  readonly file: File;
  readonly folderId: string | null;
  readonly spaceId: string;
  /** The Idempotency-Key. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
}

export interface Uploads {
  view(): UploadsView;
  subscribe(listener: () => void): () => void;
  add(files: readonly Chosen[], to: { spaceId: string; folderIdOf: (folder: string) => string | null }): void;
  /** One that was refused is tried anew, one that broke off at once. */
  retry(id: string): void;
  cancel(id?: string): void;
  /** Forgets those that have ended. */
  clear(): void;
}

interface Entry {
  upload: Upload;
  readonly file: File;
  readonly folderId: string | null;
  readonly spaceId: string;
  key: string;
  stop: AbortController;
  failures: number;
  timer?: ReturnType<typeof setTimeout>;
}

const AT_ONCE = 3;
const SHOWN = 50;
const TOLD_MS = 150;
const RETRY_MS = [2_000, 5_000, 15_000, 30_000];
const FIRST: Readonly<Record<UploadState, number>> = {
  refused: 0,
  broken: 1,
  sending: 2,
  waiting: 3,
  cancelled: 4,
  done: 5,
};

export function createUploads(send: (sending: Sending) => Promise<unknown>): Uploads {
  const entries = new Map<string, Entry>();
  const listeners = new Set<() => void>();
  let view = viewOf([]);
  let told: ReturnType<typeof setTimeout> | undefined;
  const tell = (): void => {
    told ??= setTimeout(() => {
      told = undefined;
      view = viewOf([...entries.values()].map(({ upload }) => upload));
      for (const listener of listeners) listener();
    }, TOLD_MS);
  };
  const change = (entry: Entry, fields: Partial<Upload>): void => {
    entry.upload = { ...entry.upload, ...fields };
    tell();
  };
  const next = (): void => {
    const all = [...entries.values()];
    let free = AT_ONCE - all.filter(({ upload }) => upload.state === "sending").length;
    for (const entry of all) {
      if (free <= 0) return;
      if (entry.upload.state !== "waiting") continue;
      free -= 1;
      void run(entry).finally(next);
    }
  };
  const requeue = (entry: Entry): void => {
    clearTimeout(entry.timer);
    if (entry.upload.state === "cancelled") return;
    change(entry, { state: "waiting", share: 0 });
    next();
  };
  const run = async (entry: Entry): Promise<void> => {
    const { file, folderId, spaceId, key, stop } = entry;
    change(entry, { state: "sending", share: 0, error: undefined });
    try {
      await requireReadable(file);
      const onProgress = (share: number): void => change(entry, { share });
      await send({ file, folderId, spaceId, key, signal: stop.signal, onProgress });
      change(entry, { state: "done", share: 1 });
    } catch (error) {
      if (stop.signal.aborted) return;
      if (!isPassing(error)) return change(entry, { state: "refused", error });
      change(entry, { state: "broken", error });
      entry.timer = setTimeout(() => requeue(entry), waitOf(error, entry.failures));
      entry.failures += 1;
    }
  };
  globalThis.addEventListener?.("online", () => {
    for (const entry of entries.values()) if (entry.upload.state === "broken") requeue(entry);
  });
  return {
    view: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add(files, { spaceId, folderIdOf }) {
      for (const { file, folder } of files) {
        const entry = entryOf(file, folder, { spaceId, folderId: folderIdOf(folder) });
        entries.set(entry.upload.id, entry);
      }
      tell();
      next();
    },
    retry(id) {
      const entry = entries.get(id);
      if (entry === undefined) return;
      // A key whose request was refused stands for that refusal.
      if (entry.upload.state === "refused") entry.key = newKey();
      entry.stop = new AbortController();
      entry.upload = { ...entry.upload, state: "waiting" };
      requeue(entry);
    },
    cancel(id) {
      for (const entry of id === undefined ? entries.values() : [entries.get(id)!]) {
        if (isEnded(entry.upload.state)) continue;
        clearTimeout(entry.timer);
        change(entry, { state: "cancelled" });
        entry.stop.abort(new DOMException("Stopped by the person.", "AbortError"));
      }
      next();
    },
    clear() {
      for (const [id, { upload }] of entries) if (isEnded(upload.state)) entries.delete(id);
      tell();
    },
  };
}

const entryOf = (file: File, folder: string, to: { spaceId: string; folderId: string | null }): Entry => ({
  ...to,
  file,
  key: newKey(),
  stop: new AbortController(),
  failures: 0,
  upload: {
    id: newKey(),
    name: file.name,
    folder,
    size: file.size,
    state: "waiting",
    share: 0,
    error: undefined,
  },
});

const isEnded = (state: UploadState): boolean =>
  state === "done" || state === "refused" || state === "cancelled";

/** Whether the same upload may be accepted later, without a change of it. */
function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof RateLimitError) return true;
  return error instanceof HoldfastError && (error.status ?? 0) >= 500 && error.status !== 507;
}

function waitOf(error: unknown, failures: number): number {
  const asked = error instanceof RateLimitError ? (error.retryAfter ?? 0) * 1_000 : 0;
  return Math.max(asked, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]!);
}

/** A file that was deleted or changed on the disk cannot be sent, and looks like a broken connection then. */
async function requireReadable(file: File): Promise<void> {
  await file.slice(0, 1).arrayBuffer();
}

function viewOf(uploads: readonly Upload[]): UploadsView {
  const counts = { waiting: 0, sending: 0, broken: 0, refused: 0, cancelled: 0, done: 0 };
  let bytes = 0;
  let sentBytes = 0;
  for (const { state, size, share } of uploads) {
    counts[state] += 1;
    if (state === "cancelled" || state === "refused") continue;
    bytes += size;
    sentBytes += state === "done" ? size : Math.round(size * share);
  }
  const shown = uploads.toSorted((a, b) => FIRST[a.state] - FIRST[b.state]).slice(0, SHOWN);
  return { counts, total: uploads.length, bytes, sentBytes, shown };
}
