/** Sets up the demo on the first start: uploads its documents, and keeps what has been done. */
import { readFile, readdir, rename, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PROJECT_ROOT } from "./processes/node-process.ts";
import { messageOf } from "./start-error.ts";

export const DEMO_FILE = join(PROJECT_ROOT, "demo", "tenants.yaml");
export const DEMO_DOCUMENTS = join(PROJECT_ROOT, "demo", "documents");
/** The ids in demo/tenants.yaml. */
export const DEMO_SPACE_ID = "01900000-0000-7000-8000-000000000010";
export const DEMO_ADMIN = "ada@acme.example";
export const DEMO_AGENT_ID = "01900000-0000-7000-8000-000000000020";

const MEDIA_TYPES: Record<string, string> = {
  ".md": "text/markdown",
  ".txt": "text/plain",
  ".pdf": "application/pdf",
};
const CALL_TIMEOUT_MS = 30_000;
const INGEST_TIMEOUT_MS = 180_000;
/** At this pace four documents keep within the key's 600 requests a minute, however slow the machine. */
const POLL_MS = 500;
const ENDED = new Set(["completed", "failed", "cancelled"]);

/** How much of the demo earlier starts have done; it is done once in each data folder. */
export interface DemoState {
  readonly isProvisioned: boolean;
  /** Document ids by file name. */
  readonly uploaded: Readonly<Record<string, string>>;
  readonly isComplete: boolean;
}

const NOTHING_DONE: DemoState = { isProvisioned: false, uploaded: {}, isComplete: false };

/** The stored state; that of a new data folder if there is none. */
export async function readDemoState(dataDir: string): Promise<DemoState> {
  const text = await readFile(statePath(dataDir), "utf8").catch(() => undefined);
  return text === undefined ? NOTHING_DONE : (JSON.parse(text) as DemoState);
}

/** Replaces the stored state atomically. */
export async function writeDemoState(dataDir: string, state: DemoState): Promise<void> {
  await writeFile(`${statePath(dataDir)}.new`, `${JSON.stringify(state)}\n`);
  await rename(`${statePath(dataDir)}.new`, statePath(dataDir));
}

function statePath(dataDir: string): string {
  return join(dataDir, "demo.json");
}

interface IngestOptions {
  readonly address: string;
  readonly key: string;
  readonly dataDir: string;
  readonly state: DemoState;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

/** Uploads missing demo documents and waits; reports those that fail. @throws Error if the API refuses. */
export async function ingestDemoDocuments(options: IngestOptions): Promise<void> {
  let state = options.state;
  for (const name of (await readdir(DEMO_DOCUMENTS)).toSorted()) {
    if (name in state.uploaded) continue;
    options.signal.throwIfAborted();
    const id = await upload(options, name);
    state = { ...state, uploaded: { ...state.uploaded, [name]: id } };
    await writeDemoState(options.dataDir, state);
  }
  const deadline = AbortSignal.any([options.signal, AbortSignal.timeout(INGEST_TIMEOUT_MS)]);
  const ended = await Promise.allSettled(
    Object.entries(state.uploaded).map(([name, id]) => waitForEnd(options, name, { id, deadline })),
  );
  options.signal.throwIfAborted();
  for (const result of ended)
    if (result.status === "rejected")
      options.onProgress(`a demo document is still being processed: ${messageOf(result.reason)}`);
  await writeDemoState(options.dataDir, { ...state, isComplete: true });
}

async function upload(options: IngestOptions, name: string): Promise<string> {
  const form = new FormData();
  form.set("space_id", DEMO_SPACE_ID);
  const type = MEDIA_TYPES[extname(name)] ?? "application/octet-stream";
  form.set("file", new Blob([await readFile(join(DEMO_DOCUMENTS, name))], { type }), name);
  const document = await call<{ id: string }>(options, "/v1/data/upload", { method: "POST", body: form });
  options.onProgress(`uploaded ${name}`);
  return document.id;
}

async function waitForEnd(
  options: IngestOptions,
  name: string,
  { id, deadline }: { id: string; deadline: AbortSignal },
): Promise<void> {
  for (;;) {
    deadline.throwIfAborted();
    const document = await call<{ processing_state: { pipeline_status: string } }>(
      options,
      `/v1/data/${id}`,
      {},
    );
    const status = document.processing_state.pipeline_status;
    if (ENDED.has(status)) return options.onProgress(`${name}: ${status}`);
    await sleep(POLL_MS, undefined, { signal: deadline });
  }
}

async function call<T>(
  { address, key, signal }: IngestOptions,
  path: string,
  request: RequestInit,
): Promise<T> {
  const response = await fetch(address + path, {
    ...request,
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as T;
}
