/** Finds logins that may do more than they should, says what repairs them, and makes logins. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import pg from "pg";
import { IS_POWERFUL } from "../access/catalogue.ts";
import {
  type Database,
  type DatabaseUrls,
  type OwnerDatabase,
  ROLES,
  type RoleName,
  inTransaction,
  queryOnce,
  type Sql,
} from "../pool.ts";

const VARIABLES = {
  app: "DATABASE_URL",
  system: "DATABASE_SYSTEM_URL",
  maintenance: "DATABASE_MAINTENANCE_URL",
} as const satisfies Record<RoleName, string>;
const NAMES = Object.keys(ROLES) as RoleName[];

/** What a login has. One of a service should have `has_role` and nothing else. */
interface LoginRow {
  readonly login: string;
  readonly attributes: string[];
  readonly has_role: boolean;
  readonly owns: string[];
  readonly more_roles: string[];
  readonly may_create: boolean;
}

interface Fault {
  readonly what: string;
  /** Repairs it; undefined if another login is needed. */
  readonly statement: string | undefined;
}

interface StrongLogins {
  readonly faults: readonly string[];
  /** They repair all faults; none if one of the faults needs another login. */
  readonly statements: readonly string[];
}

/**
 * Asks Postgres what each login of the process may do.
 * @returns undefined if each login may do what its role may and no more.
 * @throws DomainError `database_unavailable`.
 */
export async function findStrongLogins(
  db: Database,
  { maintenanceUrl }: Pick<DatabaseUrls, "maintenanceUrl">,
): Promise<StrongLogins | undefined> {
  const configured = NAMES.filter((name) => name !== "maintenance" || maintenanceUrl !== undefined);
  const found = await Promise.all(
    configured.map(async (name) => ({ name, login: await readLogin(db, name) })),
  );
  const users = found.map(({ name, login }) => ({ name, login: login.login }));
  const faults = found.flatMap(({ name, login }) => {
    const misplaced = misplacement(name, login.login, users);
    // Granting rights to a misplaced login, or revoking them, would repair nothing.
    const own: Fault[] =
      misplaced === undefined ? faultsOf(name, login) : [{ what: misplaced, statement: undefined }];
    return own.map((fault) => ({ ...fault, what: `${VARIABLES[name]}: "${login.login}" ${fault.what}` }));
  });
  if (faults.length === 0) return undefined;
  const statements = faults.flatMap(({ statement }) => (statement === undefined ? [] : [statement]));
  return {
    faults: faults.map(({ what }) => what),
    statements: statements.length === faults.length ? statements : [],
  };
}

/** Describes what {@link findStrongLogins} finds: what is wrong, and what repairs it. */
export async function describeStrongLogins(db: Database, urls: DatabaseUrls): Promise<string | undefined> {
  const found = await findStrongLogins(db, urls);
  return found === undefined ? undefined : advice(found);
}

/** @returns why this user cannot be the login of `name`, whatever rights it has; undefined if it can. */
function misplacement(
  name: RoleName,
  login: string,
  users: ReadonlyArray<{ readonly name: RoleName; readonly login: string }>,
): string | undefined {
  const other = NAMES.find((one) => one !== name && ROLES[one] === login);
  if (other !== undefined)
    return `is the role of ${VARIABLES[other]}: it is no login of this part, whatever it is granted`;
  const twin = users.find((one) => one.name !== name && one.login === login);
  return twin === undefined
    ? undefined
    : `is the user of ${VARIABLES[twin.name]} too: each part needs a login of its own`;
}

/** $1 is the role that the login should have, $2 whether it may own vectors. */
const LOGIN_FACTS = `
  select session_user::text as login,
         array_remove(
           array[
             case when login.rolsuper then 'superuser' end,
             case when login.rolbypassrls then 'bypassrls' end,
             case when login.rolcreaterole then 'createrole' end,
             case when login.rolcreatedb then 'createdb' end,
             case when login.rolreplication then 'replication' end
           ],
           null
         ) as attributes,
         exists (
           select
           from pg_roles own
           where own.rolname = $1
             and pg_has_role(session_user, own.oid, 'usage')
         ) as has_role,
         array(
           select relation.oid::regclass::text
           from pg_class relation
           join pg_namespace schema on schema.oid = relation.relnamespace
           where schema.nspname in ('public', 'vectors')
             and relation.relkind in ('r', 'p')
             and pg_has_role(session_user, relation.relowner, 'member')
             and not ($2 and schema.nspname = 'vectors')
           order by 1
           limit 3
         ) as owns,
         array(
           select more.rolname::text
           from pg_roles more
           where more.rolname not in ($1, session_user)
             and pg_has_role(session_user, more.oid, 'member')
             and ${IS_POWERFUL}
           order by 1
         ) as more_roles,
         has_schema_privilege(session_user, 'public', 'create') as may_create
  from pg_roles login
  where login.rolname = session_user`;

/** Asks about the role that logged in, whichever role the connection has taken on. */
async function readLogin(db: Database, name: RoleName): Promise<LoginRow> {
  const { rows } = await queryOnce<LoginRow>(db[name], LOGIN_FACTS, [ROLES[name], name === "maintenance"]);
  return rows[0]!;
}

function faultsOf(
  name: RoleName,
  { login, attributes, has_role, owns, more_roles, may_create }: LoginRow,
): Fault[] {
  const quoted = pg.escapeIdentifier(login);
  // A superuser has everything else because it is one.
  if (attributes.includes("superuser")) return [{ what: "is a superuser", statement: undefined }];
  const faults: Fault[] = attributes.map((attribute) => ({
    what: `has ${attribute}`,
    statement: `alter role ${quoted} no${attribute};`,
  }));
  if (!has_role)
    faults.push({
      what: `is no member of ${ROLES[name]} that inherits its rights`,
      statement: `grant ${ROLES[name]} to ${quoted};`,
    });
  if (owns.length > 0) faults.push({ what: `owns ${owns.join(", ")}`, statement: undefined });
  for (const role of more_roles) {
    const isOwner = role === "pg_database_owner";
    faults.push({
      what: isOwner ? "owns the database" : `is a member of ${role}`,
      statement: isOwner ? undefined : `revoke ${pg.escapeIdentifier(role)} from ${quoted};`,
    });
  }
  if (may_create)
    faults.push({
      what: "may create in the schema public",
      statement: `revoke create on schema public from public, ${quoted};`,
    });
  return faults;
}

/** If no statements repair the faults, new logins do. */
function advice({ faults, statements }: StrongLogins): string {
  const indent = (line: string): string => `  ${line}`;
  const wrong = [
    "The database login is stronger than it should be: " +
      "an injected statement could leave row-level security.",
    ...faults.map(indent),
  ];
  if (statements.length > 0)
    return [...wrong, "As the owner of the database run:", ...statements.map(indent)].join("\n");
  const forWhom = (name: RoleName): string =>
    name === "maintenance" ? "   for workers of the queue embed and the command line alone" : "";
  return [
    ...wrong,
    "As the owner of the database, after `holdfast migrate` of this version, run:",
    ...NAMES.map((name) => `  alter role ${ROLES[name]} login password '<password of ${name}>';`),
    "and set, each with its password:",
    ...NAMES.map(
      (name) => `  ${VARIABLES[name]}=postgres://${ROLES[name]}@<host>/<database>${forWhom(name)}`,
    ),
    "  DATABASE_OWNER_URL=what DATABASE_URL is now   for `holdfast migrate` alone",
  ].join("\n");
}

/**
 * Lets the three users of the URLs log in with the passwords that the URLs have. They are the roles
 * themselves, or members of them, which are made if they are missing. Idempotent; open connections stay. The
 * server never sees the passwords, only what it stores of them.
 * @returns the names of the users.
 * @throws TypeError if a URL names no user or no password, the owner, the role of another part, or the user
 *   of another URL. Nothing is changed then.
 */
export async function makeLogins(
  db: OwnerDatabase,
  urls: Readonly<Record<RoleName, string>>,
): Promise<string[]> {
  return inTransaction(db.owner, async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtext('holdfast migrations'))");
    const { rows } = await sql.query<{ owner: string }>("select session_user::text as owner");
    const logins = NAMES.map((name) => loginOf(name, urls[name]));
    for (const { name, login } of logins) {
      if (login === rows[0]!.owner) throw new TypeError(`${VARIABLES[name]} names the owner itself`);
      const misplaced = misplacement(name, login, logins);
      if (misplaced !== undefined) throw new TypeError(`${VARIABLES[name]}: "${login}" ${misplaced}`);
    }
    for (const login of logins) await makeLogin(sql, login);
    return logins.map(({ login }) => login);
  });
}

interface NewLogin {
  readonly name: RoleName;
  readonly login: string;
  readonly password: string;
}

function loginOf(name: RoleName, url: string): NewLogin {
  const { username, password } = new URL(url);
  if (username === "" || password === "")
    throw new TypeError(`${VARIABLES[name]} names no user with a password`);
  return { name, login: decodeURIComponent(username), password: decodeURIComponent(password) };
}

async function makeLogin(sql: Sql, { name, login, password }: NewLogin): Promise<void> {
  const quoted = pg.escapeIdentifier(login);
  if (login !== ROLES[name]) {
    if ((await sql.query("select from pg_roles where rolname = $1", [login])).rowCount === 0)
      await sql.query(`create role ${quoted}`);
    await sql.query(`grant ${ROLES[name]} to ${quoted}`);
  }
  await sql.query(`alter role ${quoted} login password ${pg.escapeLiteral(scramVerifier(password))}`);
  // A role may change its own settings: an injected statement could have left unusable ones.
  const { rows } = await sql.query<{ database: string }>("select current_database() as database");
  await sql.query(`alter role ${quoted} reset all`);
  await sql.query(`alter role ${quoted} in database ${pg.escapeIdentifier(rows[0]!.database)} reset all`);
}

const SCRAM_ITERATIONS = 4_096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * Makes what Postgres stores of a password, so that a statement with it may appear in the server's log.
 * @see https://www.rfc-editor.org/rfc/rfc5803
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, KEY_BYTES, "sha256");
  const keyOf = (label: string): Buffer => createHmac("sha256", salted).update(label).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  const server = keyOf("Server Key").toString("base64");
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString("base64")}$${stored}:${server}`;
}
