/**
 * Measures how long the answer to the deletion of a large folder takes: one statement over folders, however
 * many documents are in them.
 */
import { loadavg } from "node:os";
import { Command } from "commander";
import { newId } from "../../src/domain/ids.ts";
import { call, ended, upload } from "../../test/support/clients/client.ts";
import setup from "../../test/support/run/global-setup.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { machine, say } from "../report.ts";

interface Options {
  readonly documents: string;
  readonly folders: string;
  readonly rounds: string;
}

const GOAL_MS = 100;

/** Makes a tree ten wide, with documents that look as if they had been uploaded. @returns its root */
async function makeTree(stack: Stack, folders: number, documents: number): Promise<string> {
  const { body: root } = await call(stack.url, KEYS.editor, "POST", "/folders", {
    name: `tree ${Math.random()}`,
    space_id: SPACES.research,
  });
  const { owner } = stack.database.db;
  const ids = Array.from({ length: folders }, () => newId());
  for (let from = 0; from < ids.length; from += 1_000) {
    const part = ids.slice(from, from + 1_000);
    const parents = part.map((_, index) =>
      from + index === 0 ? root.id : (ids[Math.floor((from + index - 1) / 10)] ?? root.id),
    );
    await owner.query(
      `insert into folders (id, organization_id, space_id, parent_folder_id, name)
       select made.id, root.organization_id, root.space_id, made.parent, 'folder'
       from   folders root, unnest($2::uuid[], $3::uuid[]) made(id, parent)
       where  root.id = $1`,
      [root.id, part, parents],
    );
  }
  await owner.query(
    `with model as (
       select document.*, run.object_key
       from   documents document
       join   pipeline_runs run on run.num = document.latest_run_num
       where  document.space_id = $1
       limit  1
     ),
     made as (
       select gen_random_uuid() as id, gen_random_uuid() as run_id,
              ($2::uuid[])[1 + n % cardinality($2::uuid[])] as folder, n
       from   generate_series(1, $3) n
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
       (id, organization_id, space_id, space_num, folder_id, name, file_type, file_size, content_type,
        created_by, run_count, latest_run_num)
     select made.id, model.organization_id, model.space_id, model.space_num, made.folder, 'd' || made.n,
            model.file_type, model.file_size, model.content_type, model.created_by, 1, run.num
     from   model, made
     join   run on run.document_id = made.id`,
    [SPACES.research, ids, documents],
  );
  await owner.query("analyze folders");
  return root.id;
}

async function run({ documents, folders, rounds }: Options): Promise<void> {
  const stop = await setup();
  const stack = await startStack();
  try {
    const { id } = await upload(
      stack.url,
      KEYS.editor,
      SPACES.research,
      "# Model\n\nOf the documents in the tree.",
    );
    await ended(stack.url, KEYS.editor, id, 60_000);
    // Without a worker, the purge that follows does not slow down the next round.
    await stack.worker.kill("SIGTERM");
    const times: number[] = [];
    for (let round = 0; round < Number(rounds); round += 1) {
      const root = await makeTree(stack, Number(folders), Number(documents));
      const started = performance.now();
      const { status } = await call(stack.url, KEYS.editor, "DELETE", `/folders/${root}`);
      times.push(performance.now() - started);
      if (status !== 204) throw new Error(`the deletion answered ${status}`);
    }
    say(`${machine()}; everything on this machine; load ${loadavg()[0]!.toFixed(1)}`);
    say(
      "| documents in the tree | folders | rounds | DELETE answered in, each round (ms) | goal " +
        "|\n|---|---|---|---|---|",
    );
    say(
      `| ${documents} | ${folders} | ${rounds} | ${times.map((time) => time.toFixed(0)).join(", ")} | < ` +
        `${GOAL_MS} ms each: ${Math.max(...times) < GOAL_MS ? "reached" : "not reached"} |`,
    );
  } finally {
    await stack.close();
    await stop();
  }
}

await new Command("bench:deletes")
  .description("The answer to the deletion of a folder with many documents below it.")
  .option("--documents <n>", "in the tree", "100000")
  .option("--folders <n>", "in the tree", "1000")
  .option("--rounds <n>", "trees deleted", "3")
  .action(run)
  .parseAsync();
