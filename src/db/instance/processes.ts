/** All SQL on `processes`: which processes of the service run, of which version, and since when. */
import { DEADLINES, PAUSES } from "#timings";
import { every } from "../../process/concurrency/rounds.ts";
import { type Database, queryOnce } from "../pool.ts";

export interface ProcessFacts {
  readonly id: string;
  readonly kind: "api" | "worker";
  readonly version: string;
  /** `PROCESS@MACHINE`, as Temporal knows it. */
  readonly identity: string;
  readonly queues: readonly string[];
}

export interface ProcessRow extends ProcessFacts {
  readonly started_at: Date;
  readonly renewed_at: Date;
  /** Whether it has renewed its row lately. */
  readonly is_alive: boolean;
}

export const MOST_SHOWN = 500;
const ALIVE = `${DEADLINES.processAlive} milliseconds`;
/** A process that died is shown this long, so that an operator can see that it did. */
const KEPT = "1 hour";

/** Writes that the process runs, and forgets those that have not said so for an hour. Idempotent. */
async function renewProcess(db: Database, facts: ProcessFacts): Promise<void> {
  await queryOnce(db.system, {
    name: "processes.renew",
    text: `with gone as (
         delete from processes
         where renewed_at < now() - interval '${KEPT}'
           and id <> $1
       )
       insert into processes (id, kind, version, identity, queues, reads_response_items)
       values ($1, $2, $3, $4, $5, true)
       on conflict (id) do update
       set renewed_at = now()`,
    values: [facts.id, facts.kind, facts.version, facts.identity, facts.queues],
  });
}

async function forgetProcess(db: Database, id: string): Promise<void> {
  await queryOnce(db.system, "delete from processes where id = $1", [id]);
}

/** Lists at most 500 processes, those that were renewed last first. */
export async function listProcesses(db: Database): Promise<ProcessRow[]> {
  const { rows } = await queryOnce<ProcessRow>(
    db.system,
    `select id,
            kind,
            version,
            identity,
            queues,
            started_at,
            renewed_at,
            renewed_at > now() - interval '${ALIVE}' as is_alive
     from processes
     order by renewed_at > now() - interval '${ALIVE}' desc, kind, started_at, id
     limit ${MOST_SHOWN}`,
  );
  return rows;
}

/**
 * Says every ten seconds that the process runs, from now on.
 * @param onError gets the error of each time that could not be written.
 * @returns a function that ends it, and removes the row.
 */
export function announceProcess(
  db: Database,
  facts: ProcessFacts,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const rounds = every(PAUSES.processRenewal, () => renewProcess(db, facts), onError);
  return async () => {
    await rounds.stop();
    await forgetProcess(db, facts.id).catch(onError);
  };
}
