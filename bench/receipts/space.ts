/**
 * Measures what locations take on disk: the documents go through the whole service, and the rows that it
 * wrote are then loaded twice into fresh tables, as they are and without their locations.
 */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { mapAtMost } from "../../src/process/concurrency/settle-all.ts";
import setup from "../../test/support/run/global-setup.ts";
import { type Answer, ended, upload } from "../../test/support/clients/client.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { say } from "../report.ts";

const UPLOADERS = 4;
const TIMEOUT_MS = 600_000;

/** The tables that locations make larger, with what their rows would be without. */
const LOCATED = {
  chunks:
    'select (jsonb_populate_record(one, \'{"start_offset": null, "end_offset": null, "places": null}\')).* ' +
    "from chunks one",
  text_blocks:
    "select organization_id, run_num, first_index, unit_count, (select jsonb_agg(unit - 'places' order by at) " +
    "from jsonb_array_elements(units) with ordinality as unit (unit, at)) from text_blocks",
} as const;

export async function space(folder: string): Promise<void> {
  const stop = await setup();
  const stack = await startStack({ localModels: true });
  try {
    await load(stack, folder);
    const owner = stack.database.db.owner;
    const query = async <Row extends object>(text: string): Promise<Row[]> =>
      (await owner.query<Row>(text)).rows;
    const size = async (table: string): Promise<number> =>
      Number((await query<{ size: string }>(`select pg_total_relation_size('${table}') as size`))[0]!.size);
    const [counts] = await query<{ chunks: number; located: number }>(
      "select count(*)::int as chunks, count(places)::int as located from chunks",
    );
    const { chunks, located } = counts!;
    const shared = await query<{ size: string }>(
      `select sum(pg_total_relation_size(relation)) as size
       from (
         select distinct tableoid as relation from embeddings
         union all select 'posting_segments'::regclass
         union all select 'posting_runs'::regclass
         union all select 'postings'::regclass
       ) relations`,
    );
    const others = Number(shared[0]!.size);
    say(`${chunks} chunks, ${located} of which have locations; bytes a chunk, with indexes and TOAST:`);
    say("");
    say("| table | without | with | more |");
    say("|---|---|---|---|");
    let before = others;
    let after = others;
    for (const [table, bare] of Object.entries(LOCATED)) {
      await query(`create table bare_${table} (like ${table} including all)`);
      await query(`create table full_${table} (like ${table} including all)`);
      await query(`insert into bare_${table} ${bare}`);
      await query(`insert into full_${table} select * from ${table}`);
      const [less, more] = [await size(`bare_${table}`), await size(`full_${table}`)];
      sayRow(table, less / chunks, more / chunks);
      before += less;
      after += more;
    }
    sayRow("vectors and search index", others / chunks, others / chunks);
    sayRow("all", before / chunks, after / chunks);
  } finally {
    await stack.close();
    await stop();
  }
}

function sayRow(what: string, less: number, more: number): void {
  say(`| ${what} | ${less.toFixed(0)} | ${more.toFixed(0)} | ${((more / less - 1) * 100).toFixed(1)} % |`);
}

async function load(stack: Stack, folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  let refused = 0;
  await mapAtMost(UPLOADERS, paths, async (path) => {
    const accepted: Answer["body"] = await upload(
      stack.url,
      KEYS.editor,
      SPACES.research,
      new Uint8Array(await readFile(path)),
      basename(path),
    ).catch(() => undefined);
    if (accepted === undefined) refused++;
    else {
      const { processing_state } = await ended(stack.url, KEYS.editor, accepted.id, TIMEOUT_MS);
      if (processing_state.pipeline_status !== "completed") refused++;
    }
  });
  say(`${paths.length} files of ${folder}, ${refused} of which are refused or have no text`);
}
