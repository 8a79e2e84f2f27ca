/** Reads what the processes of a stack use: processor time, memory, and rows that they have written. */
import type { Stack } from "../../../test/support/stack/stack.ts";
import {
  commandOf,
  cpuSeconds,
  parentOf,
  privateBytes,
  residentMegabytes,
  treeOf,
} from "../../process-tree.ts";

const MEBIBYTE = 1_048_576;

export function mebibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
}

export async function rows<T>(stack: Stack, query: string): Promise<T[]> {
  return (await stack.database.db.owner.query(query)).rows as T[];
}

/** The process of each part of a stack. */
export interface Pids {
  readonly API: number;
  readonly worker: number;
  readonly Postgres: number;
  readonly Temporal: number;
}

/** Postgres is the one that all stacks of the bench share, Temporal is the stack's own. */
export async function pidsOf(stack: Stack): Promise<Pids> {
  const [backend] = await rows<{ pid: number }>(stack, "select pg_backend_pid() as pid");
  const port = stack.temporalAddress.split(":").at(-1)!;
  return {
    API: stack.api.child.pid!,
    worker: stack.worker.child.pid!,
    Postgres: await parentOf(backend!.pid),
    Temporal: await childWith(port),
  };
}

async function childWith(argument: string): Promise<number> {
  for (const pid of await treeOf(process.pid)) if ((await commandOf(pid)).includes(argument)) return pid;
  throw new Error(`no process below this one has the argument ${argument}`);
}

/** Seconds of processor time that each process has used. */
export async function cpuOf(pids: Pids): Promise<Record<keyof Pids, number>> {
  const { API, worker, Postgres, Temporal } = pids;
  return {
    API: await cpuSeconds(API),
    worker: await cpuSeconds(worker),
    Postgres: await cpuSeconds(Postgres),
    Temporal: await cpuSeconds(Temporal),
  };
}

export async function memoryOf(pid: number): Promise<string> {
  const resident = await residentMegabytes(pid);
  const bytes = await privateBytes(await treeOf(pid));
  return `${resident} MB resident, with its children ${mebibytes(bytes)} private`;
}

/** Counts what has been completed so far. */
export async function countDone(stack: Stack): Promise<{ documents: number; chunks: number }> {
  return (
    await rows<{ documents: number; chunks: number }>(
      stack,
      `select (select count(*)::int from pipeline_runs where status = 'completed') as documents,
              (select count(*)::int from embedding_cache)                          as chunks`,
    )
  )[0]!;
}
