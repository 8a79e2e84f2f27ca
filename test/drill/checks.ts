/**
 * Checks what must hold after every step of the drill, by reading the database and the object store and not
 * what the code reports.
 */
import type { Client } from "@temporalio/client";
import type pg from "pg";
import { countFaults } from "../../src/integrity/organization.ts";
import type { Stack } from "../support/stack/stack.ts";
import { FAULTY_EVENTS } from "./events/faulty-events.ts";
import { FAULTY_ROWS } from "./faulty-rows.ts";
import type { DrillObjects } from "./objects.ts";

interface Looked {
  readonly stack: Pick<Stack, "database" | "api" | "worker">;
  readonly temporal: Client;
  readonly objects: Pick<DrillObjects, "names">;
}

/** Describes everything that is wrong; empty if all holds. */
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
  for (const [fault, query] of Object.entries({ ...FAULTY_ROWS, ...FAULTY_EVENTS })) {
    const { rowCount } = await owner.query(query);
    if (rowCount) found.push(`${fault} (${rowCount})`);
  }
  return found;
}

/** Counts accepted documents that no longer exist although nobody deleted them. */
async function findLost(owner: pg.Pool, accepted: ReadonlySet<string>): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `select count(*)::int as count
     from unnest($1::uuid[]) accepted(id)
     where not exists (select from documents document where document.id = accepted.id)
       and not exists (select from deletions deletion where deletion.target_id = accepted.id)`,
    [[...accepted]],
  );
  return rows[0]!.count;
}

/** Returns the names that no row contains and for which no upload is in progress. */
async function findOrphans(owner: pg.Pool, names: readonly string[]): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select object_key as name
     from raw_files
     where object_key is not null
     union
     select object_key from pipeline_runs
     union
     select object_key from openai_files
     union
     select object_key from upload_intents`,
  );
  const known = new Set(rows.map((row) => row.name));
  return names.filter((name) => !known.has(name));
}
