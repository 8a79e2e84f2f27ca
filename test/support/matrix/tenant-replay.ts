/** Replays recorded statements in the transaction of any organization. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Database, type OrganizationRef, type Sql, inTransaction } from "../../../src/db/pool.ts";
import { type SqlRecord, unpack } from "./sql-records.ts";

const DATABASE_CODE = join(import.meta.dirname, "../../../src/db");
const VALUE_SETS_A_STATEMENT = 4;
const ROW_LEVEL_SECURITY = "42501";
/** Columns whose values belong to the instance and not to a tenant. */
const INSTANCE_COLUMNS = new Set(["model_num"]);
const INSTANCE_STATEMENTS = /\b(from|into) embedding_models\b/;
/** A statement with this name appends rows for any organization; it reads and changes none. */
const APPENDS_ONLY = /append_audit_rows/;
const NO_STATEMENT_OF_A_FUNCTION =
  /^\s*(begin|commit|rollback|savepoint|release|set transaction|select set_config|select pg_)/i;

/**
 * Lists `file.function` of every exported function of src/db that runs in a tenant's transaction. Such a
 * function takes a connection as its first parameter.
 */
export async function queryFunctions(): Promise<string[]> {
  const files = (await readdir(DATABASE_CODE, { recursive: true }))
    .filter((file) => file.endsWith(".ts"))
    .toSorted();
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(DATABASE_CODE, file), "utf8");
      return [...text.matchAll(/^export async function (\w+)(?:<\w+>)?\(\s*sql: Sql/gm)].map(
        ([, name]) => `${file.replace(/\.ts$/, "")}.${name}`,
      );
    }),
  );
  return found.flat();
}

/**
 * Lists the functions that read or changed at least one row in a tenant's transaction; only of these does an
 * empty result for another tenant prove anything.
 */
export function recordedFunctions(records: readonly SqlRecord[]): Set<string> {
  return new Set(
    records
      .filter(({ organization, rows }) => organization !== null && (rows ?? 0) > 0)
      .flatMap(({ functions }) => functions),
  );
}

interface Replayed {
  readonly replayed: number;
  readonly leaks: string[];
}

/**
 * Runs each statement with a few of the sets of values that it was recorded with, and rolls everything back.
 */
export async function replayAs(
  db: Database,
  organization: OrganizationRef,
  records: readonly SqlRecord[],
): Promise<Replayed> {
  const sets = new Map<string, SqlRecord[]>();
  for (const record of records) {
    if (NO_STATEMENT_OF_A_FUNCTION.test(record.text) || record.functions.length === 0) continue;
    if (INSTANCE_STATEMENTS.test(record.text) || APPENDS_ONLY.test(record.text)) continue;
    const key = record.text.replaceAll(/\d+/g, "0");
    const known = sets.get(key) ?? sets.set(key, []).get(key)!;
    if (known.length < VALUE_SETS_A_STATEMENT) known.push(record);
    else if ((record.rows ?? 0) > 0) known.splice(known.findIndex(({ rows }) => rows === 0) >>> 0, 1, record);
  }
  const leaks: string[] = [];
  const chosen = [...sets.values()].flat();
  const begin = `begin;
    select set_config('app.organization_id', '${organization.id}', true),
      set_config('app.organization_num', '${organization.num}', true)`;
  await inTransaction(
    db.app,
    async (sql) => {
      for (const record of chosen) {
        const leak = await tryStatement(sql, record);
        if (leak !== undefined)
          leaks.push(`${record.functions[0]}: ${leak}: ${record.text.replaceAll(/\s+/g, " ").slice(0, 160)}`);
      }
      await sql.query("rollback");
    },
    begin,
  );
  return { replayed: chosen.length, leaks: [...new Set(leaks)] };
}

async function tryStatement(sql: Sql, { text, values }: SqlRecord): Promise<string | undefined> {
  await sql.query("savepoint before");
  try {
    const { rows, rowCount, command } = await sql.query(text, values.map(unpack));
    if (command === "SELECT")
      return isNothing(rows) ? undefined : `reads ${JSON.stringify(rows).slice(0, 200)}`;
    return rowCount === 0 || isNothing(rows) ? undefined : `changes ${rowCount} rows`;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === ROW_LEVEL_SECURITY ? undefined : `fails with ${message}`;
  } finally {
    await sql.query("rollback to savepoint before");
  }
}

/** Whether every value is empty, as in a count of zero or a sum over no rows. */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isNothing);
  if (typeof value === "object" && value !== null)
    return Object.entries(value).every(([column, one]) => INSTANCE_COLUMNS.has(column) || isNothing(one));
  return (
    value === null || value === 0 || value === false || value === "" || value === "0" || value === undefined
  );
}
