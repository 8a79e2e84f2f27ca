/** The only place that decides whether what a provisioning file names is there already, and that adds or updates its row. */
import { newId } from "../../domain/ids.ts";
import type { Sql } from "../pool.ts";

/** One application of a file: its transaction, what it did so far, and what it found wrong. */
export interface Run {
  readonly sql: Sql;
  readonly mistakes: string[];
  readonly warnings: string[];
  /** Everything that the file names, in its order, by where it stands and what it is; what was left as it is too. */
  readonly changes: Map<string, ProvisionChange>;
  created: number;
  updated: number;
}

export interface ProvisionChange {
  /** Where it stands in the file. */
  readonly path: string;
  /** As `user ada@acme.example`. */
  readonly what: string;
  readonly id: string;
  readonly outcome: "made" | "changed" | "unchanged";
}

/** Counts what became of one thing and keeps it for the report; several changes of one thing are one. */
export function noteChange(run: Run, change: ProvisionChange): void {
  if (change.outcome === "made") run.created += 1;
  if (change.outcome === "changed") run.updated += 1;
  const key = `${change.path} ${change.id}`;
  const before = run.changes.get(key);
  if (before === undefined || before.outcome === "unchanged") run.changes.set(key, change);
}

/** Values by column; only columns that the file names. */
export type Fields = Readonly<Record<string, unknown>>;

interface Kind {
  /** The column of what it belongs to. */
  readonly parent: "organization_id" | "space_id" | null;
  /** Finds it by its name, `$2`, within its parent, `$3`. */
  readonly byName: string;
  readonly gone: string;
  /** Whether one that is gone still holds its name. */
  readonly isKeptWhenGone: boolean;
  readonly isTouched: boolean;
}

const KINDS = {
  organizations: {
    parent: null,
    byName: "lower(name) = lower($2) and $3::uuid is null",
    gone: "deleted_at is not null",
    isKeptWhenGone: true,
    isTouched: false,
  },
  users: {
    parent: "organization_id",
    byName: "lower(email) = lower($2) and organization_id = $3",
    gone: "removed_at is not null",
    isKeptWhenGone: true,
    isTouched: false,
  },
  spaces: {
    parent: "organization_id",
    byName: "lower(name) = lower($2) and organization_id = $3 and not is_private",
    gone: "deleted_at is not null or is_private",
    isKeptWhenGone: false,
    isTouched: true,
  },
  agents: {
    parent: "space_id",
    byName: "lower(name) = lower($2) and space_id = $3",
    gone: "deleted_at is not null",
    isKeptWhenGone: false,
    isTouched: true,
  },
} as const satisfies Record<string, Kind>;

export type Table = keyof typeof KINDS;

interface Named {
  /** Where it stands in the file. */
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
  /** As {@link Named.name}. */
  readonly name: string;
  readonly id: string;
  readonly isNew: boolean;
  /** A user who was removed and is named again. */
  readonly isGone: boolean;
}

/** Finds it by its id where one is given, else by its name. Undefined where that is a mistake, which is noted then. */
export async function locate(run: Run, table: Table, named: Named): Promise<Located | undefined> {
  const { parent, byName, gone, isKeptWhenGone } = KINDS[table];
  const { rows } = await run.sql.query<Candidate>(
    `select id, ${parent ?? "null::uuid"} as parent_id, (${gone}) as is_gone, coalesce(id = $1, false) as by_id, (${byName}) as by_name
     from ${table} where id = $1 or (${byName}) order by is_gone, id for no key update`,
    [named.id ?? null, named.name, named.parentId],
  );
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
  const { path, name } = named;
  return found === undefined
    ? { path, name, id: named.id ?? newId(), isNew: true, isGone: false }
    : { path, name, id: found.id, isNew: false, isGone: found.is_gone };
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
  const others = Object.keys(KINDS).filter((other) => other !== table);
  const { rowCount } = await run.sql.query(
    others.map((other) => `select from ${other} where id = $1`).join(" union all "),
    [named.id],
  );
  return rowCount === 0 ? undefined : "id: is used for something else";
}

function nameField(table: Table): string {
  return table === "users" ? "email" : "name";
}

/** Adds the row with `fields` and, for what the file does not name, `defaults`; or updates `fields`. @returns whether anything changed. */
export async function save(
  run: Run,
  table: Table,
  located: Located,
  row: { readonly fields: Fields; readonly defaults: Fields },
): Promise<boolean> {
  const fields = Object.fromEntries(Object.entries(row.fields).filter(([, value]) => value !== undefined));
  if (located.isNew) {
    await insertRow(run.sql, table, { id: located.id, ...row.defaults, ...fields });
    noteChange(run, { ...changeOf(table, located), outcome: "made" });
    return true;
  }
  const isChanged = await updateRow(run.sql, table, located.id, fields);
  noteChange(run, { ...changeOf(table, located), outcome: isChanged ? "changed" : "unchanged" });
  return isChanged;
}

/** What a change says it is about. */
export function changeOf(table: Table, { path, name, id }: Located): Omit<ProvisionChange, "outcome"> {
  return { path, id, what: `${table.slice(0, -1)} ${name}` };
}

async function insertRow(sql: Sql, table: Table, fields: Fields): Promise<void> {
  const columns = Object.keys(fields);
  await sql.query(
    `insert into ${table} (${columns.join(", ")}) values (${columns.map((_, index) => `$${index + 1}`).join(", ")})`,
    Object.values(fields),
  );
}

/** One statement that writes only where something differs, so that applying a file twice changes nothing. */
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
    `update ${table} set ${assignments.join(", ")} where id = $1 and (${differences.join(" or ")})`,
    [id, ...Object.values(fields)],
  );
  return rowCount === 1;
}
