/**
 * The requests that the drill sends: mixed documents, deletions, batches, maintenance and chat, each so that
 * its workflows run.
 */
import type { Client } from "@temporalio/client";
import { requestRotation } from "../../src/db/outbox/operations.ts";
import { type Answer, call, ended, fileForm, upload } from "../support/clients/client.ts";
import { makePdf, truncated } from "../support/files/text.ts";
import type { Stack } from "../support/stack/stack.ts";
import { ACME, AGENTS, KEYS, SPACES } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";
import type { Load } from "./points.ts";

/** The number of completed documents that loads may change and delete. */
const POOL = 8;
const CHUNKERS = ["recursive", "sentence", "fixed_tokens", "markdown"];
const READY_MS = 60_000;

let serial = 0;

const send = (stack: Stack, method: string, path: string, body?: unknown): Promise<Answer> =>
  call(stack.url, KEYS.editor, method, path, body);
/** Ignores failures: the service does not promise that a request succeeds during a fault. */
async function quietly(request: Promise<unknown>): Promise<void> {
  await request.catch(() => undefined);
}

function mixed(index: number): readonly [content: string | Uint8Array<ArrayBuffer>, filename: string] {
  const name = `drill-${serial++}`;
  const pdf = (): Buffer => makePdf([[`${name} page one`, "Words of the first page."], [`${name} page two`]]);
  if (index % 5 === 3) return [new Uint8Array(pdf()), `${name}.pdf`];
  if (index % 5 === 4) return [new Uint8Array(truncated(pdf())), `${name}.pdf`];
  return [
    `# ${name}\n\n${`What ${name} says about the matter in hand. `.repeat(20 + (index % 5) * 40)}`,
    `${name}.md`,
  ];
}

/** Uploads documents of several types. @returns the ids of those that were accepted. */
export async function uploadMixed(stack: Stack, count: number): Promise<string[]> {
  const one = (index: number): Promise<string | undefined> =>
    upload(stack.url, KEYS.editor, SPACES.research, ...mixed(index)).then(
      (document: { id: string }) => document.id,
      () => undefined,
    );
  const ids = await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  return ids.filter((id) => id !== undefined);
}

export interface LoadContext {
  readonly stack: Stack;
  readonly temporal: Client;
  /** The number of documents in one step. */
  readonly documents: number;
  /** Ids of completed documents. */
  readonly pool: string[];
  /** Called for each document as soon as it is accepted. */
  accepted(id: string): void;
}

/** Makes what the load needs, before any fault. */
export async function prepareLoad({ stack, pool }: LoadContext, load: Load): Promise<void> {
  const { rows } = await stack.database.db.owner.query<{ id: string }>(
    "select id from documents where deleted_at is null and published_run_num is not null",
  );
  const alive = new Set(rows.map((row) => row.id));
  pool.splice(0, pool.length, ...pool.filter((id) => alive.has(id)));
  while (pool.length < POOL) {
    const { id } = await upload(stack.url, KEYS.editor, SPACES.research, ...mixed(0));
    await ended(stack.url, KEYS.editor, id, READY_MS);
    pool.push(id);
  }
  if (load.startsWith("chat") || load === "responses")
    await until("chat answers", async () => (await ask(stack, AGENTS.analyst)).status === 200, READY_MS);
  if (load === "maintenance") await makeOldVersions(stack);
  if (load === "upkeep") await makeManyChunks(stack);
}

/** As many as a space has before its language is measured, and some more. */
const MEASURED_CHUNKS = 50;

/** Uploads a long document, unless the space has many chunks. */
async function makeManyChunks(stack: Stack): Promise<void> {
  const { rows } = await stack.database.db.owner.query<{ chunks: number }>(
    `select coalesce(sum(statistics.chunks), 0)::int as chunks
     from space_statistics statistics
     join spaces space on space.num = statistics.space_num
     where space.id = $1`,
    [SPACES.research],
  );
  if (rows[0]!.chunks >= MEASURED_CHUNKS) return;
  const part = (_: unknown, at: number): string =>
    `# Part ${at}\n\n${`What part ${at} says about the matter in hand. `.repeat(60)}`;
  const text = Array.from({ length: MEASURED_CHUNKS }, part).join("\n\n");
  const { id } = await upload(stack.url, KEYS.editor, SPACES.research, text, `drill-${serial++}.md`);
  await ended(stack.url, KEYS.editor, id, READY_MS);
}

/** Makes a path whose file was replaced twice, long ago. */
async function makeOldVersions(stack: Stack): Promise<void> {
  const { owner } = stack.database.db;
  for (let version = 0; version < 3; version += 1) {
    await send(
      stack,
      "POST",
      `/spaces/${SPACES.research}/data/upload`,
      fileForm(`Text number ${serial++}.`, "replaced.md", { path: "drill" }),
    );
    const { rows } = await owner.query<{ document_id: string }>(
      "select document_id from raw_files where path = 'drill/replaced.md' and deleted_at is null",
    );
    await ended(stack.url, KEYS.editor, rows[0]!.document_id, READY_MS);
  }
  await owner.query(
    `update pipeline_runs
     set completed_at = completed_at - interval '1 hour'
     where completed_at > now() - interval '10 minutes'`,
  );
}

export const ask = (stack: Stack, model: string): Promise<Answer> =>
  send(stack, "POST", "/chat/completions", { model, messages: [{ role: "user", content: "drill" }] });

const RUN: Record<Load, (context: LoadContext) => Promise<void>> = {
  async uploads({ stack, documents, pool, accepted }) {
    const chunker_name = CHUNKERS[serial++ % CHUNKERS.length];
    const one = async (): Promise<void> => (await uploadMixed(stack, 1)).forEach(accepted);
    const mixedOnes = uploadMixed(stack, documents).then((ids) => ids.forEach(accepted));
    await Promise.all([
      one(),
      mixedOnes,
      quietly(send(stack, "POST", `/data/${pool[0]}/reprocess`, { chunker_name })),
    ]);
  },
  /** Files, a store with one of them, and a batch of the others. */
  async stores({ stack, documents, accepted }) {
    const sent = await Promise.all(
      Array.from({ length: Math.max(2, documents) }, async (_, index) =>
        send(stack, "POST", "/files", fileForm(...mixed(index), { purpose: "assistants" })).catch(
          () => undefined,
        ),
      ),
    );
    const [first, ...others] = sent.flatMap((answer) => answer?.body.id ?? []);
    const store = await send(stack, "POST", "/vector_stores", {
      metadata: { space_id: SPACES.research },
      file_ids: first === undefined ? [] : [first],
    }).catch(() => undefined);
    const path = `/vector_stores/${store?.body.id}`;
    await quietly(send(stack, "POST", `${path}/file_batches`, { file_ids: others }));
    const listed = await send(stack, "GET", `${path}/files`).catch(() => undefined);
    for (const file of listed?.body.data ?? []) accepted(file.document_id);
  },
  async deletions({ stack, pool, accepted }) {
    const folder = await send(stack, "POST", "/folders", {
      name: `drill ${serial++}`,
      space_id: SPACES.research,
    }).catch(() => undefined);
    const intoFolder = async (): Promise<void> => {
      const [content, filename] = mixed(0);
      await quietly(
        send(
          stack,
          "POST",
          "/data/upload",
          fileForm(content, filename, { space_id: SPACES.research, folder_id: folder?.body.id }),
        ),
      );
    };
    await Promise.all([intoFolder(), intoFolder()]);
    const [document, withFile] = pool;
    const path = (await send(stack, "GET", `/data/${withFile}`).catch(() => undefined))?.body.file_path;
    await Promise.all([
      quietly(send(stack, "DELETE", `/folders/${folder?.body.id}`)),
      quietly(send(stack, "DELETE", `/data/${document}`)),
      quietly(
        send(stack, "DELETE", `/spaces/${SPACES.research}/data/files?path=${encodeURIComponent(path)}`),
      ),
      uploadMixed(stack, 2).then((ids) => ids.forEach(accepted)),
    ]);
  },
  async batch({ stack, documents, pool, accepted }) {
    const body = {
      document_ids: pool.slice(0, documents),
      chunker_name: CHUNKERS[serial++ % CHUNKERS.length],
    };
    await Promise.all([
      quietly(send(stack, "POST", "/data/batch-reprocess", body)),
      uploadMixed(stack, 1).then((ids) => ids.forEach(accepted)),
    ]);
  },
  async maintenance({ stack, temporal, accepted }) {
    await Promise.all([
      temporal.schedule.getHandle("maintenance").trigger(),
      uploadMixed(stack, 2).then((ids) => ids.forEach(accepted)),
    ]);
  },
  async upkeep({ stack, temporal, accepted }) {
    // Makes two segments look as if an older analyzer had written them.
    await stack.database.db.owner.query(
      `update posting_segments
       set analyzer_version = 0
       where num in (select num from posting_segments order by num limit 2)`,
    );
    // Makes every space due to be measured that has chunks enough.
    await stack.database.db.owner.query("delete from language_fits");
    await Promise.all([
      temporal.schedule.getHandle("index-upkeep").trigger(),
      uploadMixed(stack, 2).then((ids) => ids.forEach(accepted)),
    ]);
  },
  async operations({ stack, accepted }) {
    const { db } = stack.database;
    const { rows } = await db.owner.query<{ id: string; num: number }>(
      "select id, num from organizations where id = $1",
      [ACME],
    );
    await Promise.all([
      quietly(requestRotation(db, rows[0]!)),
      quietly(requestRotation(db, null)),
      uploadMixed(stack, 2).then((ids) => ids.forEach(accepted)),
    ]);
  },
  async responses({ stack }) {
    stack.provider.replyAlways({ pieces: ["An ", "answer."] });
    const body = { model: AGENTS.analyst, input: "drill", background: true };
    await Promise.all([1, 2].map(() => quietly(send(stack, "POST", "/responses", body))));
  },
  /** A turn is answered, its row waits, and Temporal is back. */
  async "chat without Temporal"({ stack }) {
    stack.provider.replyAlways({ pieces: ["An ", "answer."] });
    const waiting = "select from turns where adopt_after is not null";
    const doWait = async (): Promise<boolean> => (await stack.database.db.owner.query(waiting)).rowCount! > 0;
    // A repeat must not take Temporal away from those of before.
    if (await doWait()) return;
    await stack.killTemporal();
    try {
      await until(
        "a turn is answered without Temporal",
        async () => (await ask(stack, AGENTS.analyst)).status === 200,
      );
      await until("it waits for a workflow", doWait);
    } finally {
      await stack.restartTemporal();
    }
  },
  async chat({ stack }) {
    stack.provider.replyAlways((request) => {
      const wantsTool = request["tools"] !== undefined && request["messages"].at(-1).role === "user";
      return wantsTool
        ? { toolCalls: [{ name: "list_documents", arguments: "{}" }] }
        : { pieces: ["An ", "answer."] };
    });
    await Promise.all(
      [AGENTS.analyst, AGENTS.librarian, AGENTS.librarian].map((agent) => quietly(ask(stack, agent))),
    );
  },
};

/** Runs the load until every request was answered or refused. */
export function runLoad(context: LoadContext, load: Load): Promise<void> {
  return RUN[load](context);
}
