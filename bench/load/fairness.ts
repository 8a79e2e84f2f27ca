/**
 * Times the single uploads of one organization while another's batch of many documents runs, and compares
 * them with the same uploads on an idle system.
 */
import { loadavg } from "node:os";
import { Command } from "commander";
import { call, ended, upload } from "../../test/support/clients/client.ts";
import setup from "../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { machine, percentile, say } from "../report.ts";

interface Options {
  readonly documents: string;
  readonly singles: string;
}

/** The most times that an upload may take longer, at p50. */
const GOAL = 1.5;
const WARM_UP = 5;

/**
 * Makes documents that share the file of one upload, which takes seconds instead of hours; each is parsed,
 * chunked and published by itself.
 */
async function makeDocuments(stack: Stack, count: number): Promise<void> {
  const model = await upload(
    stack.url,
    KEYS.editor,
    SPACES.research,
    `# Model\n\n${"What the batch says about its matter. ".repeat(40)}`,
    "model.md",
  );
  await ended(stack.url, KEYS.editor, model.id, 60_000);
  await stack.database.db.owner.query(
    `with model as (
       select document.*, run.object_key
       from   documents document
       join   pipeline_runs run on run.num = document.latest_run_num
       where  document.id = $1
     ),
     made as (
       select gen_random_uuid() as id, gen_random_uuid() as run_id, n
       from   generate_series(1, $2) n
     ),
     run as (
       insert into pipeline_runs
         (id, organization_id, space_id, space_num, document_id, version, trigger, status, object_key,
          file_name, file_type, file_size, chunker_name, created_by)
       select made.run_id, model.organization_id, model.space_id, model.space_num, made.id, 1, 'upload',
              'failed', model.object_key, model.name, model.file_type, model.file_size, 'page_based',
              model.created_by
       from   model, made
       returning num, document_id
     )
     insert into documents
       (id, organization_id, space_id, space_num, name, file_type, file_size, content_type, created_by,
        run_count, latest_run_num)
     select made.id, model.organization_id, model.space_id, model.space_num, 'batch-' || made.n,
            model.file_type, model.file_size, model.content_type, model.created_by, 1, run.num
     from   model, made
     join   run on run.document_id = made.id`,
    [model.id, count],
  );
}

/** Milliseconds from the request to searchable, one upload after the other. */
async function timeSingles(stack: Stack, count: number, name: string): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const started = performance.now();
    const { id } = await upload(
      stack.url,
      KEYS.rival,
      SPACES.rival,
      `# ${name} ${index}\n\n${`What ${name} ${index} says. `.repeat(60)}`,
      `${name}-${index}.md`,
    );
    await ended(stack.url, KEYS.rival, id, 120_000);
    times.push(performance.now() - started);
  }
  return times;
}

async function run({ documents, singles }: Options): Promise<void> {
  const stop = await setup();
  const stack = await startStack();
  try {
    await makeDocuments(stack, Number(documents));
    await timeSingles(stack, WARM_UP, "warm-up");
    const idle = await timeSingles(stack, Number(singles), "idle");
    const accepting = performance.now();
    const { body } = await call(stack.url, KEYS.editor, "POST", "/data/batch-reprocess", {
      filters: { "doc_metadata.original_filename__startswith": "batch-" },
    });
    const acceptedMs = performance.now() - accepting;
    const readBatch = async () =>
      (await call(stack.url, KEYS.editor, "GET", `/data/batches/${body.batch_id}`)).body;
    const before = await readBatch();
    const busyFrom = performance.now();
    const busy = await timeSingles(stack, Number(singles), "busy");
    const busySeconds = (performance.now() - busyFrom) / 1_000;
    const after = await readBatch();
    if (after.completed_at !== null)
      throw new Error("the batch was over before the uploads were: take more documents");
    const ratio = (share: number): number => percentile(busy, share) / percentile(idle, share);
    say(`${machine()}; scripted provider; everything on this machine; load ${loadavg()[0]!.toFixed(1)}`);
    say(
      "| documents of the batch | accepted in (ms) | batch documents/s meanwhile | one upload, idle p50 " +
        "/ p95 (ms) | beside the batch p50 / p95 (ms) | ratio p50 / p95 | goal |",
    );
    say(`|---|---|---|---|---|---|---|`);
    const rate = (after.counts.completed - before.counts.completed) / busySeconds;
    const pair = (values: readonly number[]): string =>
      `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.95).toFixed(0)}`;
    say(
      `| ${body.accepted} | ${acceptedMs.toFixed(0)} | ${rate.toFixed(1)} | ${pair(idle)} | ` +
        `${pair(busy)} | ${ratio(0.5).toFixed(2)} / ${ratio(0.95).toFixed(2)} | ≤ ${GOAL} at p50: ` +
        `${ratio(0.5) <= GOAL ? "reached" : "not reached"} |`,
    );
  } finally {
    await stack.close();
    await stop();
  }
}

await new Command("bench:fairness")
  .description("How much longer an upload takes while another organization's batch runs.")
  .option("--documents <n>", "of the batch", "10000")
  .option("--singles <n>", "uploads timed on each side", "30")
  .action(run)
  .parseAsync();
