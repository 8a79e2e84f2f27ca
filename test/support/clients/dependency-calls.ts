/**
 * The requests that tests of a missing dependency send to a stack, and what they expect while it is up and
 * while it is down.
 */
import { expect } from "vitest";
import { type Answer, call, ended, fileForm, upload } from "./client.ts";
import type { KillableStack } from "../stack/shared-stack.ts";
import { TENANTS, type Tenants } from "../tenants/tenants.ts";
import { until } from "../until.ts";

/** A request that takes longer is hanging. */
export const AT_MOST_MS = 15_000;
/** Less than the minute after which the dispatcher restarts work that nobody has started. */
const WORK_ENDS_WITHIN_MS = 45_000;
export const TEXT = "# Capybaras\n\nCapybaras are the largest rodents that live today.";

interface Accepted {
  readonly uploaded: string;
  readonly reprocessed: string;
  readonly deleted: string;
  readonly batchId: string;
}

export interface DependencyCalls {
  /** Sends one request; fails if it hangs. */
  send(method: string, path: string, body?: unknown, key?: string): Promise<Answer>;
  put(): Promise<Answer>;
  search(): Promise<Answer>;
  chat(stream?: boolean): Promise<Answer>;
  download(document: Answer["body"]): Promise<Answer>;
  chatIsReady(): Promise<void>;
  /** Starts a streamed answer. `rest` is its whole text once it has ended, or '' if the stream was cut. */
  streaming(): Promise<{ readonly rest: Promise<string> }>;
  /** Uploads a document and waits until it can be searched. */
  completed(): Promise<Answer["body"]>;
  /** Expects reads and searches to answer as usual. */
  expectReadsWork(document: Answer["body"]): Promise<void>;
  /** Requests every kind of background work, and expects each to be accepted. */
  acceptWork(
    documents: { readonly kept: Answer["body"]; readonly deleted: Answer["body"] },
    uploaded: Answer["body"],
  ): Promise<Accepted>;
  expectDone(work: Accepted): Promise<void>;
}

/** @param tenants those of a stack of the file's own, unless others are given. */
export function dependencyCalls(
  stack: Pick<KillableStack, "url" | "provider" | "database">,
  { agents, keys, spaces }: Tenants = TENANTS,
): DependencyCalls {
  const question = (stream: boolean) => ({
    model: agents.librarian,
    messages: [{ role: "user", content: "How large?" }],
    stream,
  });
  const calls: DependencyCalls = {
    async send(method, path, body, key = keys.owner) {
      const startedAt = performance.now();
      const answer = await call(stack.url, key, method, path, body, { connection: "close" });
      expect(performance.now() - startedAt, `${method} ${path} took too long`).toBeLessThan(AT_MOST_MS);
      return answer;
    },
    put: () =>
      calls.send("POST", "/data/upload", fileForm(TEXT, "capybaras.md", { space_id: spaces.research })),
    search: () =>
      calls.send("POST", "/data/hybrid-search", { query: "largest rodents", space_id: spaces.research }),
    chat: (stream = false) => calls.send("POST", "/chat/completions", question(stream)),
    download: (document) =>
      calls.send(
        "GET",
        `/spaces/${spaces.research}/data/download?path=${encodeURIComponent(document.file_path)}`,
      ),
    async chatIsReady() {
      await until("chat is ready", async () => (await calls.chat()).status === 200);
    },
    async streaming() {
      const response = await fetch(`${stack.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${keys.owner}`, "content-type": "application/json" },
        body: JSON.stringify(question(true)),
      });
      expect(response.status).toBe(200);
      return { rest: response.text().catch(() => "") };
    },
    async completed() {
      const document = await upload(stack.url, keys.owner, spaces.research, TEXT, "capybaras.md");
      return ended(stack.url, keys.owner, document.id);
    },
    async expectReadsWork(document) {
      expect((await calls.send("GET", `/data/${document.id}`)).status).toBe(200);
      expect((await calls.send("GET", `/data/${document.id}/chunks`)).status).toBe(200);
      expect((await calls.send("POST", "/data/search", {})).status).toBe(200);
      const found = await calls.search();
      expect(found.status).toBe(200);
      expect(found.body.results.map((hit: { document_id: string }) => hit.document_id)).toContain(
        document.id,
      );
    },
    async acceptWork({ kept, deleted }, uploaded) {
      expect(
        await calls.send("POST", `/data/${kept.id}/reprocess`, { chunker_name: "sentence" }),
      ).toMatchObject({ status: 202 });
      const batch = await calls.send("POST", "/data/batch-reprocess", { document_ids: [uploaded.id] });
      expect(batch).toMatchObject({ status: 202, body: { accepted: 1 } });
      expect((await calls.send("DELETE", `/data/${deleted.id}`)).status).toBe(204);
      expect((await calls.send("GET", `/data/${deleted.id}`)).status).toBe(404);
      return {
        uploaded: uploaded.id,
        reprocessed: kept.id,
        batchId: batch.body.batch_id,
        deleted: deleted.id,
      };
    },
    async expectDone({ uploaded, reprocessed, batchId, deleted }) {
      const isCompleted = async (id: string) =>
        (await ended(stack.url, keys.owner, id, WORK_ENDS_WITHIN_MS)).processing_state;
      expect((await isCompleted(uploaded)).pipeline_status).toBe("completed");
      expect((await isCompleted(reprocessed)).pipeline_status).toBe("completed");
      await until(
        "the batch has ended",
        async () => (await calls.send("GET", `/data/batches/${batchId}`)).body.status === "completed",
        WORK_ENDS_WITHIN_MS,
      );
      const runsLeft = async () =>
        (await stack.database.db.owner.query("select from pipeline_runs where document_id = $1", [deleted]))
          .rowCount;
      await until("what was deleted is gone", async () => (await runsLeft()) === 0, WORK_ENDS_WITHIN_MS);
    },
  };
  return calls;
}

export function expectUnavailable(answer: Answer, what: string): void {
  expect({ what, status: answer.status, body: answer.body }).toMatchObject({
    what,
    status: 503,
    body: { detail: expect.any(String), error: { type: "server_error", code: expect.any(String) } },
  });
  expect(Number(answer.headers.get("retry-after")), `Retry-After of ${what}`).toBeGreaterThan(0);
}

/** Expects every request to be refused as unavailable; they are sent at the same time. */
export async function expectAllUnavailable(asked: Readonly<Record<string, Promise<Answer>>>): Promise<void> {
  const answers = await Promise.all(
    Object.entries(asked).map(async ([what, answer]) => [what, await answer] as const),
  );
  for (const [what, answer] of answers) expectUnavailable(answer, what);
}

export function expectWhole(streamed: string): void {
  expect(streamed.trimEnd().slice(-200)).toMatch(/data: \[DONE\]$/);
}
