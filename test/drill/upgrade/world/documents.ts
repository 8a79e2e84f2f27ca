/**
 * Keeps the drill's own record of documents: which were accepted and must be readable at the end, and which
 * were deleted and must be gone.
 */
import { type Answer, call, ended, fileForm } from "../../../support/clients/client.ts";
import { makePdf } from "../../../support/files/text.ts";

export interface Given {
  readonly id: string;
  /** A word that is in no other document. */
  readonly word: string;
  readonly spaceId: string;
  /** The API key that uploaded it. */
  readonly key: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

export interface Ledger {
  readonly kept: Map<string, Given>;
  readonly gone: Map<string, Given>;
  /** The number of the last word that was made. */
  serial: number;
}

export interface Target {
  readonly spaceId: string;
  readonly key: string;
  readonly folderId?: string;
}

const CONSONANTS = "bdfgklmnprtvz";
const SYLLABLES = 3;
/** Generous, for a machine that is busy with both versions. */
const END_MS = 60_000;
const CHUNKS_A_PAGE = 50;

export const openLedger = (): Ledger => ({ kept: new Map(), gone: new Map(), serial: 0 });

export async function upload(
  ledger: Ledger,
  url: string,
  { spaceId, key, folderId }: Target,
): Promise<Given> {
  const { word, bytes, filename } = nextDocument(ledger);
  const fields = { space_id: spaceId, ...(folderId === undefined ? {} : { folder_id: folderId }) };
  const { body } = expectStatus(
    201,
    await call(url, key, "POST", "/data/upload", fileForm(bytes, filename, fields)),
    "an upload",
  );
  return keep(ledger, { id: body.id, word, spaceId, key, bytes });
}

export function uploadMany(ledger: Ledger, url: string, target: Target, count: number): Promise<Given[]> {
  return Promise.all(Array.from({ length: count }, () => upload(ledger, url, target)));
}

/** Puts a file at a path; a file that exists there gets a new version. */
export async function putFile(
  ledger: Ledger,
  url: string,
  { spaceId, key }: Target,
  name: string,
): Promise<Given> {
  const { word } = nextDocument(ledger);
  const bytes = Buffer.from(`# About ${word}\n\nA file that is replaced speaks of ${word}.`);
  const files = `/spaces/${spaceId}/data`;
  expectStatus(
    201,
    await call(url, key, "POST", `${files}/upload`, fileForm(bytes, name, { path: "drill" })),
    "an upload to a path",
  );
  const { body } = await call(url, key, "GET", `${files}/files?prefix=drill/${name}`);
  return keep(ledger, { id: body.items[0].document_id, word, spaceId, key, bytes });
}

/** Deletes a document through the API and expects it to be gone at the end. */
export async function deleteDocument(ledger: Ledger, url: string, given: Given): Promise<void> {
  expectStatus(204, await call(url, given.key, "DELETE", `/data/${given.id}`), "a deletion");
  expectGone(ledger, [given]);
}

/** Records that these documents are deleted with their folder or space. */
export function expectGone(ledger: Ledger, documents: readonly Given[]): void {
  for (const given of documents) {
    ledger.gone.set(given.id, given);
    ledger.kept.delete(given.id);
  }
}

function nextDocument(ledger: Ledger): { word: string; bytes: Buffer<ArrayBuffer>; filename: string } {
  ledger.serial += 1;
  const word = wordOf(ledger.serial);
  return { word, ...contentOf(ledger.serial, word) };
}

/** Makes a word that no stemmer shortens to another one. */
function wordOf(serial: number): string {
  let rest = serial;
  let word = "";
  for (let syllable = 0; syllable < SYLLABLES; syllable += 1) {
    word += `${CONSONANTS[rest % CONSONANTS.length]}o`;
    rest = Math.floor(rest / CONSONANTS.length);
  }
  return `qu${word}x`;
}

/** Makes a PDF for every fourth number, otherwise a Markdown text of one or several chunks. */
function contentOf(serial: number, word: string): { bytes: Buffer<ArrayBuffer>; filename: string } {
  if (serial % 4 === 3) {
    const pdf = makePdf([[`About ${word}`, "Words of the first page."], [`More of ${word}`]]);
    return { bytes: Buffer.from(new Uint8Array(pdf)), filename: `${word}.pdf` };
  }
  const sentences = 20 + (serial % 3) * 150;
  const text = `# About ${word}\n\n${`What ${word} has to do with the upgrade. `.repeat(sentences)}`;
  return { bytes: Buffer.from(text), filename: `${word}.md` };
}

function keep(ledger: Ledger, given: Given): Given {
  ledger.kept.set(given.id, given);
  return given;
}

/** Waits until the documents are completed. */
export async function completed(url: string, documents: readonly Given[]): Promise<void> {
  for (const { id, key } of documents) {
    const { processing_state: state } = await ended(url, key, id, END_MS);
    if (state.pipeline_status !== "completed")
      throw new Error(`a document ended as ${JSON.stringify(state)}`);
  }
}

/** @throws Error with the answer when it has another status. */
export function expectStatus(status: number, answer: Answer, what: string): Answer {
  if (answer.status === status) return answer;
  throw new Error(`${what} was answered by ${answer.status}: ${JSON.stringify(answer.body).slice(0, 300)}`);
}

interface Hit {
  readonly document_id: string;
  readonly sparse_score: number | null;
}

/** Returns the documents that contain the word, as search at `url` finds them. */
async function findByWord(url: string, { word, spaceId, key }: Given): Promise<ReadonlySet<string>> {
  const { body } = await call(url, key, "POST", "/data/hybrid-search", {
    query: word,
    space_id: spaceId,
    limit: 100,
  });
  const hits: readonly Hit[] = body.results ?? [];
  return new Set(hits.filter((hit) => hit.sparse_score !== null).map((hit) => hit.document_id));
}

/**
 * Lists what is wrong with a document as the API at `url` shows it: its state, text, chunks, file, and
 * whether search finds it.
 */
export async function findUnreadable(url: string, given: Given): Promise<string[]> {
  const { id, word, spaceId, key, bytes } = given;
  const get = (path: string): Promise<Answer> => call(url, key, "GET", path);
  const { status, body: document } = await get(`/data/${id}`);
  if (status !== 200) return [`is answered by ${status}`];
  const [text, chunks, found, download] = await Promise.all([
    get(`/data/${id}/text?format=markdown`),
    get(`/data/${id}/chunks?limit=${CHUNKS_A_PAGE}`),
    findByWord(url, given),
    fetch(`${url}/v1/spaces/${spaceId}/data/download?path=${encodeURIComponent(document.file_path)}`, {
      headers: { authorization: `Bearer ${key}` },
    }),
  ]);
  const wrong: Record<string, boolean> = {
    "is not completed": document.processing_state.pipeline_status !== "completed",
    "has lost its text": !String(text.body).includes(word),
    "has lost chunks": chunks.body.items?.length !== document.processing_state.chunk_count,
    "is not found by its word": !found.has(id),
    "has a word that finds others": found.size > 1,
    "is downloaded as other bytes": !Buffer.from(await download.arrayBuffer()).equals(bytes),
  };
  return Object.keys(wrong).filter((fault) => wrong[fault]);
}

/** Lists what the API at `url` still shows of a deleted document. */
export async function findLeft(url: string, given: Given): Promise<string[]> {
  const { status } = await call(url, given.key, "GET", `/data/${given.id}`);
  const found = await findByWord(url, given);
  return [
    ...(status === 404 ? [] : [`is answered by ${status}`]),
    ...(found.has(given.id) ? ["is still found"] : []),
  ];
}
