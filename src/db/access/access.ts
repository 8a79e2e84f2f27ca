/** Checks and repairs who may do what in a database: by `holdfast migrate`, and before each start. */
import { ExpectedFailure } from "../../domain/expected-failure.ts";
import { type OwnerDatabase, inTransaction, ROLES, type Sql } from "../pool.ts";
import { readFacts } from "./catalogue.ts";
import { compareFacts, declaredFacts, type Fact, type Fault, NO_OWNER, ROLE_NAMES } from "./facts.ts";
import { describeFault, mendingStatements } from "./statements.ts";

/** One repair may reveal the next fault, such as the rights of another owner. */
const MOST_PASSES = 4;
const FAULTS_SHOWN = 3;

/** Passes over roles that exist: they are the whole server's, where another database may migrate too. */
const MAKE_ROLES = `do $$
declare
  name text;
begin
  foreach name in array array['${ROLES.app}', '${ROLES.system}', '${ROLES.maintenance}'] loop
    begin
      if not exists (select from pg_roles where rolname = name) then
        execute format('create role %I nologin', name);
      end if;
    exception when duplicate_object or unique_violation then null;
    end;
    if not pg_has_role(current_user, name, 'set') then
      execute format('grant %I to %I', name, current_user);
    end if;
  end loop;
end $$`;

/** Makes the missing roles, and lets their maker act as each. Idempotent; needs the right to create roles. */
export async function makeRoles(db: OwnerDatabase): Promise<void> {
  await inTransaction(db.owner, ensureRoles);
}

/** Like {@link makeRoles}, in `sql`. @throws ExpectedFailure with the statements for a superuser. */
export async function ensureRoles(sql: Sql): Promise<void> {
  const { rows } = await sql.query<{ user: string }>("select quote_ident(current_user) as user");
  try {
    await sql.query(MAKE_ROLES);
  } catch (error) {
    if (!isDenied(error)) throw error;
    const roles = ROLE_NAMES.join(", ");
    throw new ExpectedFailure(
      `This login may not make the roles of the service or act as them (${error.message}). ` +
        `As a superuser make those of ${roles} that are missing (create role … nologin), ` +
        `run the following, and then this command again: grant ${roles} to ${rows[0]!.user};`,
      error,
    );
  }
}

/** Whether Postgres refused a statement because the login lacks a right. */
export function isDenied(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "42501";
}

/**
 * Compares roles, owners, policies and rights of everything that this version knows with what it declares, by
 * one statement that any login may run.
 * @param isNewer whether a later version migrated the schema: what it added or changed is no fault.
 */
export async function findAccessFaults(sql: Sql, isNewer: boolean): Promise<Fault[]> {
  const found = await readFacts(sql);
  return compareFacts({ declared: declaredFacts(ownerIn(found, NO_OWNER)), found, isNewer });
}

/**
 * Makes what is missing, replaces what is wrong and revokes what is too much, in the transaction of `sql`,
 * whose user owns the schema or is a superuser.
 * @returns what was wrong, a line each.
 * @throws ExpectedFailure if something is wrong that this login may not repair, or that no statement can.
 */
export async function mendAccess(sql: Sql, isNewer: boolean): Promise<string[]> {
  const { rows } = await sql.query<{ user: string }>("select current_user::text as user");
  const mended: string[] = [];
  for (let pass = 0; ; pass++) {
    const found = await readFacts(sql);
    const faults = compareFacts({ declared: declaredFacts(ownerIn(found, rows[0]!.user)), found, isNewer });
    const stuck = faults.filter((fault) => mendingStatements(fault).length === 0);
    if (stuck.length > 0 || (faults.length > 0 && pass === MOST_PASSES)) {
      const left = stuck.length > 0 ? stuck : faults;
      throw new ExpectedFailure(
        `The database cannot be mended: ${listFaults(left.map(describeFault))}. ` +
          "Restore it from a backup that is whole.",
      );
    }
    if (faults.length === 0) return mended;
    // Revokes first, because revoking a right to a whole table revokes those to its columns too.
    const tooMuchFirst = faults.toSorted((a, b) => Number(b.is === "too much") - Number(a.is === "too much"));
    for (const fault of tooMuchFirst) await mend(sql, fault);
    mended.push(...faults.map(describeFault));
  }
}

async function mend(sql: Sql, fault: Fault): Promise<void> {
  for (const statement of mendingStatements(fault)) {
    try {
      await sql.query(statement);
    } catch (error) {
      if (!isDenied(error)) throw error;
      throw new ExpectedFailure(
        `${describeFault(fault)}, and this login may not mend it (${error.message}). ` +
          `As a superuser run, and then \`holdfast migrate\`: ${statement};`,
        error,
      );
    }
  }
}

/** @returns who owns the table of migrations, so should own the schema; `otherwise` for a service role. */
function ownerIn(found: readonly Fact[], otherwise: string): string {
  const owner = found.find(({ kind, object }) => kind === "owner" && object === "public.migrations")?.value;
  return owner === undefined || ROLE_NAMES.includes(owner) ? otherwise : owner;
}

/** Joins the first few lines and says how many more there are. */
export function listFaults(lines: readonly string[]): string {
  const distinct = [...new Set(lines)];
  const more = distinct.length - FAULTS_SHOWN;
  return `${distinct.slice(0, FAULTS_SHOWN).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}
