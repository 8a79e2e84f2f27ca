/** All SQL on `operations`, the outbox of operators: each row has a kind, a subject and a report. */
import { newId } from "../../domain/ids.ts";
import type { OperationKind } from "../../domain/work/operation.ts";
import { type Database, type OrganizationRef, inTransaction, queryOnce, type Sql } from "../pool.ts";

export interface Operation {
  readonly id: string;
  readonly kind: OperationKind;
  /** The organization it is about, by id and number; null if it is about the whole instance. */
  readonly subject: string | null;
  readonly subject_num: number | null;
  /** Seconds until it may begin; 0 if it may begin now. */
  readonly wait_seconds: number;
  readonly completed_at: Date | null;
  readonly parameters: Record<string, unknown>;
  readonly report: Record<string, unknown>;
}

/** Writes the outbox row, or returns the open one of the same kind and subject. @returns its id. */
async function insertOperation(
  sql: Sql,
  kind: OperationKind,
  subject: OrganizationRef | null,
  graceSeconds: number,
): Promise<string> {
  const { rows } = await sql.query<{ id: string }>(
    `select id
     from operations
     where kind = $1
       and subject is not distinct from $2
       and completed_at is null`,
    [kind, subject?.id ?? null],
  );
  if (rows[0] !== undefined) return rows[0].id;
  const id = newId();
  await sql.query(
    `insert into operations (id, kind, subject, subject_num, not_before)
     values ($1, $2, $3, $4, now() + make_interval(secs => $5))`,
    [id, kind, subject?.id ?? null, subject?.num ?? null, graceSeconds],
  );
  return id;
}

/** Asks for a new master key (`subject` is null) or a new key of the organization. @returns its id. */
export async function requestRotation(db: Database, subject: OrganizationRef | null): Promise<string> {
  return inTransaction(db.maintenance, (sql) =>
    insertOperation(sql, subject === null ? "rotate_master" : "rotate_organization", subject, 0),
  );
}

/**
 * Asks to encrypt the organization's objects again. An open request continues with its own parameters; if
 * either request destroys old keys, they are destroyed.
 * @returns the operation's id.
 */
export async function requestReencryption(
  db: Database,
  organization: OrganizationRef,
  { destroysOldKeys }: { readonly destroysOldKeys: boolean },
): Promise<string> {
  return inTransaction(db.maintenance, async (sql) => {
    const id = await insertOperation(sql, "reencrypt_organization", organization, 0);
    if (destroysOldKeys)
      await sql.query("update operations set parameters = $2 where id = $1", [
        id,
        JSON.stringify({ destroys_old_keys: true }),
      ]);
    return id;
  });
}

/**
 * Closes the organization for good: from now on nobody can sign in to it. Its workflow removes the contents,
 * but not before `graceSeconds` have passed.
 * @returns the operation's id.
 */
export async function requestOrganizationDeletion(
  db: Database,
  organization: OrganizationRef,
  graceSeconds: number,
): Promise<string> {
  return inTransaction(db.maintenance, async (sql) => {
    await sql.query("select close_organization($1)", [organization.id]);
    return insertOperation(sql, "delete_organization", organization, graceSeconds);
  });
}

interface TransferRequest {
  readonly kind: "export_organization" | "import_organization";
  /** Its number is 0 if the organization does not exist yet. */
  readonly organization: OrganizationRef;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Asks for an export or import; an open one of the organization keeps its parameters. @returns its id. */
export async function requestTransfer(
  db: Database,
  { kind, organization, parameters }: TransferRequest,
): Promise<string> {
  return inTransaction(db.maintenance, async (sql) => {
    const id = await insertOperation(sql, kind, organization, 0);
    await sql.query(
      `update operations
       set parameters = $2
       where id = $1
         and parameters = '{}'`,
      [id, JSON.stringify(parameters)],
    );
    return id;
  });
}

export async function findOperation(db: Database, id: string): Promise<Operation | undefined> {
  const { rows } = await queryOnce<Operation>(
    db.system,
    `select id,
            kind,
            subject,
            subject_num,
            greatest(0, ceil(extract(epoch from not_before - now())))::int as wait_seconds,
            completed_at,
            parameters,
            report
     from operations
     where id = $1`,
    [id],
  );
  return rows[0];
}

/** Completes the operation with its report; a complete one keeps the report it has. */
export async function completeOperation(
  db: Database,
  id: string,
  report: Readonly<Record<string, unknown>>,
): Promise<void> {
  await queryOnce(
    db.system,
    `update operations
     set completed_at = now(),
         report = $2
     where id = $1
       and completed_at is null`,
    [id, JSON.stringify(report)],
  );
}

/** Stores what was done so far, for the report of a later step. */
export async function noteProgress(
  db: Database,
  id: string,
  report: Readonly<Record<string, unknown>>,
): Promise<void> {
  await queryOnce(db.system, "update operations set report = $2 where id = $1", [id, JSON.stringify(report)]);
}
