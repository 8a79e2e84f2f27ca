/**
 * The upkeep of search indexes on the real stack: segments are merged, purged and rewritten while search goes
 * on, documents are embedded by a new model, and models are measured.
 */
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ANALYZER_VERSION } from "../../../src/search/text/analyzer.ts";
import { call, ended, upload } from "../../support/clients/client.ts";
import { runCli } from "../../support/stack/processes.ts";
import { documentClient } from "../../support/clients/document-client.ts";
import { onOwnStack } from "../../support/stack/own-stack.ts";
import { until } from "../../support/until.ts";

const { stack, tenants } = onOwnStack();
const { rows } = documentClient({ stack, tenants });
let connection: Connection;
let client: Client;

beforeAll(async () => {
  connection = await Connection.connect({ address: stack.temporalAddress });
  client = new Client({ connection });
  await until("the schedule is there", () =>
    connection.workflowService.describeSchedule({ namespace: "default", scheduleId: "index-upkeep" }).then(
      () => true,
      () => false,
    ),
  );
});

afterAll(async () => {
  await connection.close();
});

const tend = () => client.schedule.getHandle("index-upkeep").trigger();
const search = async (
  query: string,
  space: string = tenants.spaces.research,
): Promise<{ document_name: string; sparse_score: number | null }[]> =>
  (
    await call(stack.url, tenants.keys.editor, "POST", "/data/hybrid-search", {
      query,
      space_id: space,
      limit: 100,
    })
  ).body.results;

test("segments of single documents become one, and those of replaced versions go", async () => {
  const documents = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      upload(
        stack.url,
        tenants.keys.editor,
        tenants.spaces.research,
        `# Part ${at}\n\nThe walrus number${at} sleeps.`,
        `walrus-${at}.md`,
      ),
    ),
  );
  for (const { id } of documents) await ended(stack.url, tenants.keys.editor, id, 60_000);
  // Enough documents that even the largest segment has enough dead postings to be purged.
  const replaced = documents.slice(0, 5).map(({ id }) => id);
  for (const id of replaced) await call(stack.url, tenants.keys.editor, "POST", `/data/${id}/reprocess`);
  for (const id of replaced) await ended(stack.url, tenants.keys.editor, id, 60_000);
  await rows("update pipeline_runs set completed_at = completed_at - interval '1 hour'");
  const before = await search("walrus number3");
  expect(before.filter((hit) => hit.sparse_score !== null)).toHaveLength(10);
  // There are few small segments if documents came in groups.
  await rows("update posting_segments set analyzer_version = 0");
  await until(
    "all is tended",
    async () => {
      await tend();
      const left = await rows(
        "select 1 from posting_segments where analyzer_version <> $1 union all select 1 from hidden_runs",
        [ANALYZER_VERSION],
      );
      return left.length === 0;
    },
    90_000,
  );
  expect(await search("walrus number3")).toEqual(before);
  expect(await runCli(["integrity"], stack.env)).toMatch(/are whole/);
}, 120_000);

test("terms of another analyzer version are rebuilt from the text without embedding again", async () => {
  const asked = stack.provider.counts.texts;
  const wrong = `update postings
     set data = '\\x01610100'
     where first_term > ''
       and segment_num in (select num from posting_segments where analyzer_version = 0)`;
  await rows(
    `update posting_segments
     set analyzer_version = 0, terms = terms - 1
     where num in (select segment_num from posting_runs)`,
  );
  await rows(
    `update posting_runs
     set terms = terms - 1
     where (run_num, first_chunk) in (select run_num, first_chunk from posting_runs limit 1)`,
  );
  await rows(wrong);
  expect((await search("walrus")).filter((hit) => hit.sparse_score !== null)).toEqual([]);
  await until("all is made anew", async () => {
    await tend();
    return (await rows("select 1 from posting_segments where analyzer_version = 0")).length === 0;
  });
  expect((await search("walrus")).filter((hit) => hit.sparse_score !== null)).toHaveLength(10);
  expect(stack.provider.counts.texts).toBe(asked + 1);
}, 120_000);

test("documents are embedded by a new model, and until then found by the model that they have", async () => {
  const another = { EMBEDDING_MODEL: "another-model", EMBEDDING_DIMENSIONS: "96" };
  const hits = async () => {
    const { body, headers } = await call(stack.url, tenants.keys.editor, "POST", "/data/hybrid-search", {
      query: "the walrus sleeps",
      space_id: tenants.spaces.research,
      limit: 100,
    });
    expect(headers.get("warning")).toBeNull();
    return body.results as { document_id: string; dense_score: number | null }[];
  };
  const wanted = new Set((await hits()).map((hit) => hit.document_id));
  expect(wanted.size).toBe(10);
  await Promise.all([stack.worker.kill("SIGTERM"), stack.api.kill("SIGTERM")]);
  await stack.restartApi(another);
  const expectWhole = async (): Promise<void> => {
    const found = await hits();
    expect(new Set(found.map((hit) => hit.document_id))).toEqual(wanted);
    expect(found).toHaveLength(10);
    expect(found.filter((hit) => hit.dense_score === null)).toEqual([]);
  };
  await expectWhole();
  stack.restartWorker(another);
  await until(
    "all documents have the new model's vectors",
    async () => {
      await tend();
      await expectWhole();
      const left = await rows(
        `select 1
         from documents document
         join pipeline_runs run on run.num = document.published_run_num
         where document.deleted_at is null and run.embedding_model <> 'another-model'`,
      );
      return left.length === 0;
    },
    90_000,
  );
  await expectWhole();
  expect(
    await rows(
      `select distinct model.name
       from documents document
       join embeddings embedding on embedding.run_num = document.published_run_num
       join embedding_models model on model.num = embedding.model_num`,
    ),
  ).toEqual([{ name: "another-model" }]);
  expect(await runCli(["integrity"], stack.env)).toMatch(/are whole/);
}, 120_000);

test("what the model knows of a space's language is measured", async () => {
  const { key, space } = { key: tenants.keys.editor, space: tenants.spaces.research };
  const part = (document: number, at: number): string =>
    `# Part ${at} of ${document}\n\n${`What walrus${document} says of the matter ${at}. `.repeat(60)}`;
  const documents = await Promise.all(
    [1, 2, 3].map((document) => {
      const parts = Array.from({ length: 30 }, (_, at) => part(document, at));
      return upload(stack.url, key, space, parts.join("\n\n"), `long-${document}.md`);
    }),
  );
  for (const { id } of documents) await ended(stack.url, key, id, 60_000);
  const measured = await until("the space is measured", async () => {
    await tend();
    const found = await rows(
      `select fit.auc
       from language_fits fit
       join embedding_models model on model.num = fit.model_num
       join spaces space on space.num = fit.space_num
       where space.id = $1 and model.name = 'another-model' and fit.auc is not null`,
      [space],
    );
    return found.length === 0 ? undefined : found;
  });
  expect(measured).toEqual([{ auc: expect.any(Number) }]);
}, 120_000);
