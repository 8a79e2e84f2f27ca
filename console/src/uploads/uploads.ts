/**
 * The uploads of this tab: a few at a time, each with one Idempotency-Key, so that a file that is sent again
 * after its connection broke is one document.
 */
import { type Holdfast, HoldfastError } from "@holdfast/client";
import { createFolders } from "./folders.ts";

export interface DroppedFile {
  readonly file: File;
  /** The folders above it in what was dropped: `Reports/2026`, or empty. */
  readonly path: string;
}

export interface Upload {
  readonly id: string;
  readonly spaceId: string;
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly state: "waiting" | "sending" | "accepted" | "failed";
  readonly error: unknown;
  readonly documentId: string | null;
}

export interface Uploads {
  list(): readonly Upload[];
  onChange(listener: () => void): () => void;
  /** @param folderId of the space, null for its root, under which the dropped folders are made */
  add(spaceId: string, folderId: string | null, files: readonly DroppedFile[]): void;
  /** Sends what failed once more, with the same key. */
  retry(id: string): void;
  /** Forgets those that are over. */
  clear(): void;
}

/** Browsers open six connections to a host, and the stream of events has one of them. */
const AT_ONCE = 3;

interface Job {
  readonly file: File;
  readonly folderId: string | null;
  readonly key: string;
}

export function createUploads(holdfast: Holdfast): Uploads {
  const jobs = new Map<string, Job>();
  const listeners = new Set<() => void>();
  const folders = createFolders(holdfast);
  let uploads: readonly Upload[] = [];
  let sending = 0;
  const set = (id: string, change: Partial<Upload>): void => {
    uploads = uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload));
    for (const listener of listeners) listener();
  };
  const send = async ({ id, spaceId, path, name }: Upload): Promise<void> => {
    const { file, folderId, key } = jobs.get(id)!;
    set(id, { state: "sending", error: undefined });
    try {
      const place = await folders.ensure(spaceId, folderId, path);
      const options = { file, filename: name, spaceId, idempotencyKey: key };
      const { id: documentId } = await holdfast.upload(
        place === null ? options : { ...options, folderId: place },
      );
      jobs.delete(id);
      set(id, { state: "accepted", documentId });
    } catch (error) {
      set(id, { state: "failed", error });
    }
  };
  const next = (): void => {
    const upload = uploads.find(({ state }) => state === "waiting");
    if (upload === undefined || sending >= AT_ONCE) return;
    sending += 1;
    void send(upload).finally(() => {
      sending -= 1;
      next();
    });
    next();
  };
  return {
    list: () => uploads,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add(spaceId, folderId, files) {
      const added = files.map(({ file, path }): Upload => {
        const id = crypto.randomUUID();
        jobs.set(id, { file, folderId, key: id });
        const { name, size } = file;
        return { id, spaceId, name, path, size, state: "waiting", error: undefined, documentId: null };
      });
      uploads = [...uploads, ...added];
      for (const listener of listeners) listener();
      next();
    },
    retry(id) {
      set(id, { state: "waiting" });
      next();
    },
    clear() {
      uploads = uploads.filter(({ state }) => state === "waiting" || state === "sending");
      for (const listener of listeners) listener();
    },
  };
}

/** Whether sending it once more may help: the service has not refused the file itself. */
export function mayRetry(error: unknown): boolean {
  if (!(error instanceof HoldfastError) || error.status === undefined) return true;
  return error.status === 429 || error.status >= 500;
}
