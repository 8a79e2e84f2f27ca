/** Finds the rows that a provisioning file names, and adds or updates them. */
import { newId } from "../../domain/ids.ts";
import type { ToldEvent } from "../audit/append.ts";
import type { Sql } from "../pool.ts";
import { eventOfRow } from "./events.ts";

/** The state of applying one file: its transaction, what it did so far, and what it found wrong. */
export interface Run {
  readonly sql: Sql;
  readonly mistakes: string[];
  readonly warnings: string[];
  /** Everything that the file names, in its order, by path and id; also what stayed as it is. */
  readonly changes: Map<string, ProvisionChange>;
  /** The events of the organization that is being provisioned, by the same keys as `changes`. */
  readonly events: Map<string, ToldEvent>;
  created: number;
  updated: number;
}

export interface ProvisionChange {
  /** Where it is in the file. */
  readonly path: string;
  /** Such as `user ada@acme.example`. */
  readonly what: string;
  readonly id: string;
  readonly outcome: "made" | "changed" | "unchanged";
}

/** Counts a change for the report, with its event if it is one. Of several of one row the first counts. */
export function noteChange(run: Run, change: ProvisionChange, event?: ToldEvent): void {
  if (change.outcome === "made") run.created += 1;
  if (change.outcome === "changed") run.updated += 1;
  const key = `${change.path} ${change.id}`;
  const before = run.changes.get(key);
  if (before !== undefined && before.outcome !== "unchanged") return;
  run.changes.set(key, change);
  if (event !== undefined && change.outcome !== "unchanged") run.events.set(key, event);
}

/** Values by column. A column that is missing stays as it is. */
export type Fields = Readonly<Record<string, unknown>>;

interface Kind {
  /** What a row belongs to. */
  readonly parent: string;
  readonly isGone: string;
  /** Whether a row has the name `$2` within its parent `$3`. */
  readonly hasName: string;
  /** Whether a row that is gone still holds its name. */
  readonly isKeptWhenGone: boolean;
  /** Whether the table has a column `updated_at`. */
  readonly isTouched: boolean;
}

const KINDS = {
  organizations: {
    parent: "null::uuid",
    isGone: "deleted_at is not null",
    hasName: "lower(name) = lower($2) and $3::uuid is null",
    isKeptWhenGone: true,
    isTouched: false,
  },
  users: {
    parent: "organization_id",
    isGone: "removed_at is not null",
    hasName: "lower(email) = lower($2) and organization_id = $3",
    isKeptWhenGone: true,
    isTouched: false,
  },
  spaces: {
    parent: "organization_id",
    isGone: "deleted_at is not null or is_private",
    hasName: "lower(name) = lower($2) and organization_id = $3 and not is_private",
    isKeptWhenGone: false,
    isTouched: true,
  },
  agents: {
    parent: "space_id",
    isGone: "deleted_at is not null",
    hasName: "lower(name) = lower($2) and space_id = $3",
    isKeptWhenGone: false,
    isTouched: true,
  },
} as const satisfies Record<string, Kind>;

export type Table = keyof typeof KINDS;

interface Named {
  /** Where it is in the file. */
  readonly path: string;
  readonly id: string | undefined;
  /** Its name, or a user's e-mail address. */
  readonly name: string;
  readonly parentId: string | null;
}

interface Candidate {
  readonly id: string;
  readonly parent_id: string | null;
  readonly is_gone: boolean;
  readonly by_id: boolean;
  readonly by_name: boolean;
}

export interface Located {
  readonly path: string;
  /** See {@link Named.name}. */
  readonly name: string;
  readonly id: string;
  readonly isNew: boolean;
  /** Whether it is a user who was removed and is named again. */
  readonly isGone: boolean;
  /** Its organization, or an agent's space. */
  readonly parentId: string | null;
}

/** Locks candidates by id, `$1` (null: none), or name, `$2`, within parent `$3`; gone ones come last. */
const candidatesIn = (table: Table): string => {
  const { parent, isGone, hasName } = KINDS[table];
  return `
    select id,
           ${parent} as parent_id,
           (${isGone}) as is_gone,
           coalesce(id = $1, false) as by_id,
           (${hasName}) as by_name
    from ${table}
    where id = $1
      or (${hasName})
    order by is_gone, id
    for no key update`;
};

/** Finds a row by the file's id, else by its name. @returns undefined for a mistake, which is noted. */
export async function locate(run: Run, table: Table, named: Named): Promise<Located | undefined> {
  const { isKeptWhenGone } = KINDS[table];
  const values = [named.id ?? null, named.name, named.parentId];
  const { rows } = await run.sql.query<Candidate>(candidatesIn(table), values);
  const sameId = rows.find((row) => row.by_id);
  const sameName = rows.find((row) => row.by_name && (isKeptWhenGone || !row.is_gone));
  const mistake =
    sameId === undefined
      ? await mistakeByName(run, table, named, sameName)
      : mistakeById(table, named, sameId, sameName);
  if (mistake !== undefined) {
    run.mistakes.push(`${named.path}.${mistake}`);
    return undefined;
  }
  const found = sameId ?? sameName;
  const { path, name, parentId } = named;
  return found === undefined
    ? { path, name, id: named.id ?? newId(), isNew: true, isGone: false, parentId }
    : { path, name, id: found.id, isNew: false, isGone: found.is_gone, parentId };
}

function mistakeById(
  table: Table,
  named: Named,
  sameId: Candidate,
  sameName: Candidate | undefined,
): string | undefined {
  if (sameId.parent_id !== named.parentId) return "id: is used for something else";
  if (sameId.is_gone && table !== "users") return "id: is used for something that was deleted";
  if (sameName !== undefined && sameName.id !== sameId.id && !sameName.is_gone)
    return `${nameField(table)}: is taken by ${sameName.id}`;
  return undefined;
}

async function mistakeByName(
  run: Run,
  table: Table,
  named: Named,
  sameName: Candidate | undefined,
): Promise<string | undefined> {
  if (sameName?.is_gone && table !== "users") return `${nameField(table)}: was deleted`;
  if (sameName !== undefined && named.id !== undefined)
    return `id: the one with this ${nameField(table)} has the id ${sameName.id}, which cannot be changed`;
  if (named.id === undefined) return undefined;
  const { rowCount } = await run.sql.query(
    `select from organizations where id = $1
     union all
     select from users where id = $1
     union all
     select from spaces where id = $1
     union all
     select from agents where id = $1`,
    [named.id],
  );
  return rowCount === 0 ? undefined : "id: is used for something else";
}

function nameField(table: Table): string {
  return table === "users" ? "email" : "name";
}

/** Adds the row with `fields` and `defaults`, or updates `fields` of it. @returns whether it changed. */
export async function save(
  run: Run,
  table: Table,
  located: Located,
  row: { readonly fields: Fields; readonly defaults: Fields },
): Promise<boolean> {
  const fields = Object.fromEntries(Object.entries(row.fields).filter(([, value]) => value !== undefined));
  if (located.isNew) {
    await insertRow(run.sql, table, { id: located.id, ...row.defaults, ...fields });
    noteChange(run, { ...changeOf(table, located), outcome: "made" }, eventOfRow(table, located));
    return true;
  }
  const isChanged = await updateRow(run.sql, table, located.id, fields);
  const outcome = isChanged ? "changed" : "unchanged";
  noteChange(run, { ...changeOf(table, located), outcome }, eventOfRow(table, located));
  return isChanged;
}

export function changeOf(table: Table, { path, name, id }: Located): Omit<ProvisionChange, "outcome"> {
  return { path, id, what: `${table.slice(0, -1)} ${name}` };
}

async function insertRow(sql: Sql, table: Table, fields: Fields): Promise<void> {
  const columns = Object.keys(fields);
  const placeholders = columns.map((_, index) => `$${index + 1}`);
  await sql.query(
    `insert into ${table} (${columns.join(", ")})
     values (${placeholders.join(", ")})`,
    Object.values(fields),
  );
}

/**
 * Writes `fields` if one of them differs, so that applying a file twice changes nothing. The columns come
 * from the code that reads the file, never from its text.
 * @returns whether anything changed.
 */
export async function updateRow(
  sql: Sql,
  table: Table | "api_keys",
  id: string,
  fields: Fields,
): Promise<boolean> {
  const columns = Object.keys(fields);
  if (columns.length === 0) return false;
  const isTouched = table !== "api_keys" && KINDS[table].isTouched;
  const assignments = columns
    .map((column, index) => `${column} = $${index + 2}`)
    .concat(isTouched ? ["updated_at = now()"] : []);
  const differences = columns.map((column, index) => `${column} is distinct from $${index + 2}`);
  const { rowCount } = await sql.query(
    `update ${table}
     set ${assignments.join(", ")}
     where id = $1
       and (${differences.join(" or ")})`,
    [id, ...Object.values(fields)],
  );
  return rowCount === 1;
}
