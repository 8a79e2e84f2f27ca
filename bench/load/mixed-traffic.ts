/**
 * What the clients of the mixed soak do, one request after another: a little of everything that tenants do.
 */
import { type Answer, call, ended, fileForm } from "../../test/support/clients/client.ts";
import { makePdf } from "../../test/support/files/text.ts";
import { AGENTS, KEYS, SPACES } from "../../test/support/tenants/tenants.ts";

type Random = () => number;

export interface MixedTraffic {
  readonly url: string;
  readonly random: Random;
  /** PDFs and notes that are processed, and may be read. */
  readonly documents: { readonly pdfs: string[]; readonly notes: string[] };
  /** Uploads that are not processed yet. */
  readonly waiting: Set<Promise<void>>;
  /** Answers by kind of request and status. */
  readonly answers: Map<string, number>;
}

const KEY = KEYS.editor;
const SPACE = SPACES.research;
const PDF_PAGES = 12;
const LINES_A_PAGE = 30;
const LINE_CHARACTERS = 80;
/** Of a note; some are longer, so that its text is in several buffers. */
const NOTE_WORDS = [100, 400, 4_000] as const;
/**
 * Uploads go on replacing documents beyond these, so that the traffic is as mixed at the end as at the start.
 */
const MOST_DOCUMENTS = 200;
/** A slow machine gets less traffic, not a backlog. */
const MOST_WAITING = 12;
const PROCESSED_MS = 600_000;
const STREAM_MS = 3_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz".split("");

const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)]!;

/** Words that were never seen before, as names, numbers and typing mistakes are, among common ones. */
function words(random: Random, count: number): string {
  const word = (): string =>
    Array.from({ length: 3 + Math.floor(random() * 14) }, () => pick(random, LETTERS)).join("");
  const common = "the gearbox oil of a turbine is changed every month by harbour crews and inspectors".split(
    " ",
  );
  return Array.from({ length: count }, () => (random() < 0.3 ? word() : pick(random, common))).join(" ");
}

/** A PDF whose pages are full of text. */
function pdf(random: Random): Uint8Array<ArrayBuffer> {
  const line = (): string => words(random, 16).slice(0, LINE_CHARACTERS);
  return new Uint8Array(
    makePdf(Array.from({ length: PDF_PAGES }, () => Array.from({ length: LINES_A_PAGE }, line))),
  );
}

function count({ answers }: MixedTraffic, counted: string): void {
  answers.set(counted, (answers.get(counted) ?? 0) + 1);
}

/** Adds the document to those that may be read when it is processed, and deletes the oldest of too many. */
async function keep({ url }: MixedTraffic, id: string, kept: string[]): Promise<void> {
  const { processing_state: state } = await ended(url, KEY, id, PROCESSED_MS);
  if (state.pipeline_status !== "completed") throw new Error(`a document ended ${state.pipeline_status}`);
  kept.push(id);
  if (kept.length > MOST_DOCUMENTS) await call(url, KEY, "DELETE", `/data/${kept.shift()!}`);
}

async function upload(traffic: MixedTraffic): Promise<Answer | undefined> {
  const { url, random, documents, waiting } = traffic;
  if (waiting.size >= MOST_WAITING) return undefined;
  const isPdf = random() < 0.3;
  const name = words(random, 3).replaceAll(" ", "-");
  const form = isPdf
    ? fileForm(pdf(random), `${name}.pdf`, { space_id: SPACE })
    : fileForm(`# ${name}\n\n${words(random, pick(random, NOTE_WORDS))}`, `${name}.md`, { space_id: SPACE });
  const answer = await call(url, KEY, "POST", "/data/upload", form);
  if (answer.status !== 201) return answer;
  const kept = keep(traffic, answer.body.id, isPdf ? documents.pdfs : documents.notes)
    .catch((error: unknown) => count(traffic, `processing | ${String(error)}`))
    .finally(() => waiting.delete(kept));
  waiting.add(kept);
  return answer;
}

const search = ({ url, random }: MixedTraffic): Promise<Answer> =>
  call(url, KEY, "POST", "/data/hybrid-search", { space_id: SPACE, query: words(random, 6), limit: 10 });

const chat =
  (stream: boolean) =>
  ({ url, random }: MixedTraffic): Promise<Answer> =>
    call(url, KEY, "POST", "/chat/completions", {
      model: AGENTS.analyst,
      messages: [{ role: "user", content: `${words(random, 8)}?` }],
      stream,
    });

/** Every second one brings in a document as a file. */
async function respond({ url, random, documents }: MixedTraffic): Promise<Answer> {
  const text = { type: "input_text", text: `${words(random, 8)}?` };
  const file = random() < 0.5 ? pick(random, documents.pdfs) : undefined;
  const brought =
    file === undefined ? [] : [{ type: "input_file", file_id: `file-${file.replaceAll("-", "")}` }];
  return call(url, KEY, "POST", "/responses", {
    model: AGENTS.analyst,
    input: [{ role: "user", content: [...brought, text] }],
    stream: random() < 0.5,
  });
}

const page = ({ url, random, documents }: MixedTraffic): Promise<Answer> =>
  call(
    url,
    KEY,
    "GET",
    `/data/${pick(random, documents.pdfs)}/pages/${1 + Math.floor(random() * PDF_PAGES)}?width=1200`,
  );

const read = ({ url, random, documents }: MixedTraffic): Promise<Answer> =>
  call(url, KEY, "GET", `/data/${pick(random, documents.notes)}${pick(random, ["", "/text", "/chunks"])}`);

/** Follows the events for some seconds, as an open console does. */
async function follow({ url }: MixedTraffic): Promise<Answer> {
  const signal = AbortSignal.timeout(STREAM_MS);
  const response = await fetch(`${url}/v1/events/stream`, {
    headers: { authorization: `Bearer ${KEY}` },
    signal,
  });
  await response.text().catch(() => undefined);
  return { status: response.status, headers: response.headers, body: "" };
}

const KINDS = {
  upload,
  search,
  chat: chat(false),
  "chat, streamed": chat(true),
  response: respond,
  page,
  read,
  stream: follow,
} as const;
type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as Kind[];

async function ask(traffic: MixedTraffic, kind: Kind): Promise<void> {
  const outcome = await KINDS[kind](traffic).then(
    (answer) =>
      answer === undefined || answer.status < 300
        ? answer?.status
        : `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`,
    (error: unknown) => String(error),
  );
  if (outcome !== undefined) count(traffic, `${kind} | ${outcome}`);
}

/** Does everything once, so that what is loaded with its first use is there. */
export async function useEverything(traffic: MixedTraffic): Promise<void> {
  while (traffic.documents.pdfs.length === 0 || traffic.documents.notes.length === 0) {
    await upload(traffic);
    await Promise.all(traffic.waiting);
  }
  for (const kind of NAMES) await ask(traffic, kind);
}

/** Each client asks one thing after another until `end`, and every kind as often as the others. */
export async function mixedTraffic(traffic: MixedTraffic, clients: number, end: number): Promise<void> {
  const client = async (first: number): Promise<void> => {
    for (let turn = first; Date.now() < end; turn += 1) await ask(traffic, NAMES[turn % NAMES.length]!);
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
}
