/** `npm run demo`: the main job against a running service: upload, processing, search, a cited answer. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const SPACE = "01900000-0000-7000-8000-000000000010";
const AGENT = "01900000-0000-7000-8000-000000000020";
/** Stays within the 600 requests a minute of the demo key, however long a document takes. */
const POLL_MS = 120;
const PATIENCE_MS = 300_000;
const SHOWN_CHARACTERS = 110;

interface Settings {
  readonly url: string;
  readonly key: string;
}

interface DocumentState {
  readonly id: string;
  readonly processing_state: {
    parsed: boolean;
    chunked: boolean;
    embedded: boolean;
    pipeline_status?: string;
    chunk_count?: number;
    error?: { code: string; message: string };
  };
}

interface Hit {
  readonly score: number;
  readonly dense_score: number | null;
  readonly sparse_score: number | null;
  readonly document_name: string;
  readonly text: string;
}

interface ChatAnswer {
  readonly choices: [{ message: { content: string } }];
  readonly citations?: Citation[];
}

interface Citation {
  readonly index: number;
  readonly document_id: string;
  readonly document_name: string;
  readonly chunk_id: string;
  readonly page: number | null;
  readonly quote?: string;
  readonly locations?: Array<{ page?: number; boxes?: unknown[] }>;
  readonly receipt?: string;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function request<T>(
  { url, key }: Settings,
  path: string,
  init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> },
): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...init.headers },
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch((error: unknown) => {
    throw new Error(`${url} is not responding. Is the service running? Start it with: npm start`, {
      cause: error,
    });
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method ?? "GET"} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

function post<T>(settings: Settings, path: string, body: unknown): Promise<T> {
  return request<T>(settings, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Writes a picture of the page on which the first quote stands that has a place on one. */
async function drawCitedPage(
  settings: Settings,
  citations: readonly Citation[],
): Promise<string | undefined> {
  for (const cited of citations) {
    const page = cited.locations?.find(({ boxes }) => boxes !== undefined)?.page;
    if (page === undefined) continue;
    const highlight = cited.receipt ?? cited.chunk_id;
    const path = `/v1/data/${cited.document_id}/pages/${page}?highlight=${highlight}`;
    const picture = await fetch(settings.url + path, {
      headers: { authorization: `Bearer ${settings.key}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!picture.ok) throw new Error(`GET ${path} answered ${picture.status}: ${await picture.text()}`);
    const file = join(tmpdir(), "holdfast-cited-page.png");
    await writeFile(file, Buffer.from(await picture.arrayBuffer()));
    return file;
  }
  return undefined;
}

async function assertFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw new Error(`Cannot read ${file}: it does not exist, or you have no permission to read it.`, {
      cause: error,
    });
  });
  if (found.isDirectory())
    throw new Error(`${file} is a folder. The demo takes one file: npm run demo -- FILE QUESTION`);
}

async function uploadFile(settings: Settings, file: string): Promise<DocumentState> {
  const form = new FormData();
  form.set("space_id", SPACE);
  form.set("file", new Blob([await readFile(file)]), basename(file));
  return request<DocumentState>(settings, "/v1/data/upload", { method: "POST", body: form });
}

async function watch(settings: Settings, id: string): Promise<DocumentState> {
  const started = performance.now();
  let shown = "";
  while (performance.now() - started < PATIENCE_MS) {
    const document = await request<DocumentState>(settings, `/v1/data/${id}`, {});
    const { parsed, chunked, embedded, pipeline_status: status = "queued" } = document.processing_state;
    const line = `parsed=${parsed} chunked=${chunked} embedded=${embedded} pipeline_status=${status}`;
    if (line !== shown) say(`   ${String(Math.round(performance.now() - started)).padStart(6)} ms  ${line}`);
    shown = line;
    if (["completed", "failed", "cancelled"].includes(status)) return document;
    await new Promise((resume) => setTimeout(resume, POLL_MS));
  }
  throw new Error("the document was not processed in time; check its workflow in the Temporal UI");
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}

/** The service of `npm start` with the same DATA_DIR and PORT, or of HOLDFAST_URL and HOLDFAST_API_KEY. */
async function findService(): Promise<Settings> {
  // oxlint-disable-next-line node/no-process-env -- a client of the service, not a part of it
  const { HOLDFAST_URL, HOLDFAST_API_KEY, PORT = "8080", DATA_DIR = join(ROOT, ".data") } = process.env;
  const path = join(DATA_DIR, "demo-key");
  const readKey = (): Promise<string> =>
    readFile(path, "utf8").catch((error: unknown) => {
      throw new Error(`There is no demo key in ${path}. Is the service running? Start it with: npm start`, {
        cause: error,
      });
    });
  return {
    url: HOLDFAST_URL ?? `http://127.0.0.1:${PORT}`,
    key: HOLDFAST_API_KEY ?? (await readKey()).trim(),
  };
}

function showHit(hit: Hit): void {
  const dense = hit.dense_score?.toFixed(3) ?? "none";
  const sparse = hit.sparse_score?.toFixed(3) ?? "none";
  say(`   score ${hit.score.toFixed(3)} = dense ${dense} + sparse ${sparse}  ${hit.document_name}`);
  say(`     ${excerpt(hit.text)}`);
}

async function main(): Promise<void> {
  const [
    file = join(ROOT, "demo/turbine-manual.pdf"),
    question = "How often is the gearbox oil changed, and how much of it is needed?",
  ] = process.argv.slice(2);
  await assertFile(file);
  const settings = await findService();

  say(`1. Upload ${basename(file)} to ${settings.url}`);
  const document = await uploadFile(settings, file);
  say(`   201, document ${document.id}`);

  say("2. The pipeline processes it, as a workflow in Temporal");
  const { processing_state: state } = await watch(settings, document.id);
  if (state.error) throw new Error(`the run failed: ${state.error.code}: ${state.error.message}`);
  say(`   ${state.chunk_count} chunks`);

  say(`3. Hybrid search: ${question}`);
  const found = await post<{ results: Hit[] }>(settings, "/v1/data/hybrid-search", {
    query: question,
    space_id: SPACE,
    limit: 3,
  });
  for (const hit of found.results) showHit(hit);

  say("4. An agent answers with its sources");
  const answer = await post<ChatAnswer>(settings, "/v1/chat/completions", {
    model: AGENT,
    messages: [{ role: "user", content: question }],
  });
  say(`   ${answer.choices[0].message.content.replaceAll("\n", "\n   ")}`);
  const citations = answer.citations ?? [];
  for (const { index, document_name: name, page, quote } of citations)
    say(
      `   [${index}] ${name}${page === null ? "" : `, page ${page}`}` +
        (quote === undefined ? "" : `: “${excerpt(quote)}”`),
    );

  say("5. The cited page, with the quoted words highlighted");
  const picture = await drawCitedPage(settings, citations);
  say(`   ${picture ?? "no source has pages; ask about a PDF to see one"}`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
