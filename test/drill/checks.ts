/**
 * What must hold after every step of the drill, read from the database and the object store, not from the
 * code's own words.
 */
import type { Client } from "@temporalio/client";
import type pg from "pg";
import { countFaults } from "../../src/db/upkeep/organization-integrity.ts";
import type { Stack } from "../support/stack/stack.ts";
import type { DrillObjects } from "./objects.ts";

/** Each query answers one row for every fault that it finds. */
const FAULTS: Readonly<Record<string, string>> = {
  "an accepted document has not ended": `select id from pipeline_runs where status in ('queued', 'parsing', 'chunking', 'embedding')`,
  "a failed run has no reason": `select id from pipeline_runs where status = 'failed' and error ->> 'code' is null`,
  "a document failed for a reason of the machine": `select id from pipeline_runs where status = 'failed' and error ->> 'code' in ('internal', 'worker_crashed')`,
  "a published run has chunks without an embedding, or twice": `
    select d.id from documents d join pipeline_runs r on r.num = d.published_run_num
    where d.deleted_at is null and r.chunk_count is distinct from (select count(*) from embeddings e where e.run_num = r.num and e.space_num = r.space_num)`,
  "a published run has lost or doubled chunks": `
    select d.id from documents d join pipeline_runs r on r.num = d.published_run_num
    where d.deleted_at is null and r.chunk_count is distinct from (select count(*) from chunks c where c.run_num = r.num)`,
  "a published run is not indexed whole, or twice": `
    select r.num from documents d join pipeline_runs r on r.num = d.published_run_num
    where d.deleted_at is null and (r.chunk_count, r.term_count) is distinct from (select (sum(p.chunk_count)::int, sum(p.terms)::bigint) from posting_runs p where p.run_num = r.num)`,
  "a segment has no run, or a run no segment": `
    select s.num from posting_segments s where s.terms is distinct from (select sum(p.terms)::bigint from posting_runs p where p.segment_num = s.num)
    union select p.segment_num from posting_runs p where not exists (select from posting_segments s where s.num = p.segment_num)
    union select p.segment_num from postings p where not exists (select from posting_segments s where s.num = p.segment_num)`,
  "search entries of a run that is not published and not hidden": `
    select distinct e.run_num from embeddings e where not exists (select from documents d where d.published_run_num = e.run_num)
      and not exists (select from hidden_runs h where h.run_num = e.run_num)
    union select distinct p.run_num from posting_runs p where not exists (select from documents d where d.published_run_num = p.run_num)
      and not exists (select from hidden_runs h where h.run_num = p.run_num)`,
  "the space's totals are not those of its published chunks": `
    select s.num from spaces s
    where coalesce((select sum(chunks) from space_statistics t where t.space_num = s.num), 0)
       <> coalesce((select sum(r.chunk_count) from documents d join pipeline_runs r on r.num = d.published_run_num where d.space_id = s.id and d.deleted_at is null), 0)`,
  "a run was published that had been cancelled or superseded": `select id from pipeline_runs where status = 'completed' and error is not null`,
  "a run was published twice": `select document_id from pipeline_runs where status = 'completed' group by document_id, version having count(*) > 1`,
  "a claim is open though its runs have ended": `
    select c.id from claims c where c.closed_at is null and not exists (
      select from pipeline_runs r where r.claim_id = c.id and r.status in ('queued', 'parsing', 'chunking', 'embedding')) and c.created_at < now() - interval '2 minutes'`,
  "a deletion is not complete": `select id from deletions where completed_at is null`,
  "a deleted document is still there": `select id from documents where deleted_at is not null`,
  "an operation is not complete": `select id from operations where completed_at is null`,
  "a batch has not ended": `select id from batches where completed_at is null`,
  "a chat turn has not ended": `select id from turns where status = 'open'`,
  "text of no run": `select run_num from chunks c where not exists (select from pipeline_runs r where r.num = c.run_num)`,
};

interface Looked {
  readonly stack: Pick<Stack, "database" | "api" | "worker">;
  readonly temporal: Client;
  readonly objects: Pick<DrillObjects, "names">;
}

/** Everything that is wrong, in words; empty where all holds. */
export async function findFaults(
  { stack, temporal, objects }: Looked,
  accepted: ReadonlySet<string>,
): Promise<string[]> {
  const { owner } = stack.database.db;
  const found = await findWrongRows(owner);
  for (const [name, part] of Object.entries({ api: stack.api, worker: stack.worker })) {
    if (part.child.exitCode !== null) found.push(`the ${name} ended by itself: ${part.output().slice(-500)}`);
  }
  for await (const workflow of temporal.workflow.list({ query: "ExecutionStatus = 'Running'" }))
    found.push(`a workflow that has not ended: ${workflow.workflowId}`);
  if (found.length > 0) return found;
  const lost = await findLost(owner, accepted);
  if (lost > 0) found.push(`accepted documents are lost (${lost})`);
  for (const name of await findOrphans(owner, await objects.names()))
    found.push(`an object that nothing names: ${name}`);
  const { rows: organizations } = await owner.query<{ id: string; num: number }>(
    "select id, num from organizations",
  );
  for (const organization of organizations)
    for (const [kind, count] of Object.entries(await countFaults(stack.database.db, organization)))
      if (count > 0) found.push(`integrity: ${kind} (${count})`);
  return found;
}

async function findWrongRows(owner: pg.Pool): Promise<string[]> {
  const found: string[] = [];
  for (const [fault, query] of Object.entries(FAULTS)) {
    const { rowCount } = await owner.query(query);
    if (rowCount) found.push(`${fault} (${rowCount})`);
  }
  return found;
}

/** Accepted documents of which there is nothing, though nobody deleted them. */
async function findLost(owner: pg.Pool, accepted: ReadonlySet<string>): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `select count(*)::int as count from unnest($1::uuid[]) a(id)
     where not exists (select from documents d where d.id = a.id) and not exists (select from deletions x where x.target_id = a.id)`,
    [[...accepted]],
  );
  return rows[0]!.count;
}

/** Those of `names` that no row names and no upload is under way for. */
async function findOrphans(owner: pg.Pool, names: readonly string[]): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    "select object_key as name from raw_files where object_key is not null union select object_key from pipeline_runs union select object_key from upload_intents",
  );
  const known = new Set(rows.map((row) => row.name));
  return names.filter((name) => !known.has(name));
}
