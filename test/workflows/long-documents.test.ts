/** Long PDF files on the real stack: what was read before a worker was killed is not read again. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, ended, upload } from "../support/client.ts";
import { makePdf } from "../support/make-documents.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { KEYS, SPACES } from "../support/tenants.ts";
import { until } from "../support/until.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

const PAGES = 400;

test("kill -9 of the worker in the middle of a long PDF: it goes on from the last checkpoint, and every page is there once", async () => {
  const lines = (page: number) => Array.from({ length: 12 }, (_, line) => `Line ${line} of page ${page} says that the ledger of harbour ${page * 31 + line} was closed.`);
  const file = makePdf(Array.from({ length: PAGES }, (_, index) => lines(index + 1)));
  const accepted = await upload(stack.url, KEYS.editor, SPACES.research, new Uint8Array(file), "ledger.pdf");
  const owner = stack.database.db.owner;
  const firstChunks = async () =>
    (
      await owner.query<{ id: string; page: number | null }>(
        `select c.id, (r.checkpoint->>'next_page')::int as page from chunks c join pipeline_runs r on r.num = c.run_num
         where r.document_id = $1 and c.page_end <= 50 order by c.chunk_index`,
        [accepted.id],
      )
    ).rows;
  await until("some parts are kept", async () => ((await firstChunks())[0]?.page ?? 0) > 100);
  await stack.worker.kill("SIGKILL");
  const before = await firstChunks();
  stack.restartWorker();
  const document = await ended(stack.url, KEYS.editor, accepted.id, 120_000);
  expect(document.processing_state).toMatchObject({ pipeline_status: "completed" });
  expect((await firstChunks()).map((chunk) => chunk.id)).toEqual(before.map((chunk) => chunk.id));

  const { rows } = await owner.query(
    "select count(*)::int as chunks, count(distinct chunk_index)::int as distinct, count(distinct page_start)::int as pages, max(chunk_index) + 1 as last from chunks c join documents d on d.published_run_num = c.run_num where d.id = $1",
    [accepted.id],
  );
  expect(rows[0]).toMatchObject({ chunks: rows[0].distinct, pages: PAGES, last: rows[0].chunks });
  const text = await fetch(`${stack.url}/v1/data/${accepted.id}/text?format=markdown`, { headers: { Authorization: `Bearer ${KEYS.viewer}` } }).then((answer) => answer.text());
  const told = [...text.matchAll(/Line 0 of page (\d+) says/g)].map((match) => Number(match[1]));
  expect(told).toEqual(Array.from({ length: PAGES }, (_, index) => index + 1));
  const { body } = await call(stack.url, KEYS.viewer, "GET", `/data/${accepted.id}/text?page=3&limit=50`);
  for (const unit of body.items ?? body.data) expect(text.slice(unit.start, unit.end)).toBe(unit.text);
}, 150_000);
