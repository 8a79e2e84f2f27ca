/** Makes the statements that repair a fault, and the words that describe it. Pure. */
import pg from "pg";
import { ROLES } from "../pool.ts";
import { type Policy, TABLES } from "./declared.ts";
import { TRIGGERS, WALL } from "./declared-functions.ts";
import type { Fact, FactKind, Fault } from "./facts.ts";

type OfKind<T> = Readonly<Record<FactKind, (fault: Fault) => T>>;

/** For a fact that is missing and can be made, has another value than declared, or is too much. */
const MENDING: OfKind<string[]> = {
  role: ({ fact }) => [`alter role ${fact.object} ${fact.value.replaceAll(/\w+/g, "no$&")}`],
  membership: ({ fact }) => [`revoke ${pg.escapeIdentifier(fact.name)} from ${fact.object}`],
  default: ({ fact }) => [revokeDefault(fact)],
  owner: ({ fact, declared }) => [`alter ${objectOf(fact)} owner to ${pg.escapeIdentifier(declared!.value)}`],
  security: ({ fact: { object }, declared }) => [
    `alter table ${object} ${declared!.value === "on" ? "enable" : "disable"} row level security`,
    `alter table ${object} no force row level security`,
  ],
  policy: ({ fact, declared }) => policyStatements(fact, declared),
  function: ({ declared }) => [alterFunction(declared!)],
  body: ({ fact }) => [replaceBody(fact)],
  trigger: ({ fact, is }) => [triggerStatement(fact, is)],
  schema: ({ fact, is }) => [rightStatement(fact, is)],
  grant: ({ fact, is }) => [rightStatement(fact, is)],
  execute: ({ fact, is }) => [rightStatement(fact, is)],
};

/** If a fact of these kinds is missing, the thing itself is. */
const THINGS: readonly FactKind[] = ["role", "owner", "security", "function"];
const isGone = ({ fact, is }: Fault): boolean => is === "missing" && THINGS.includes(fact.kind);

/**
 * @returns none if no statement can help: rows of a missing table, or the body of a missing function, have to
 * come from a backup.
 */
export function mendingStatements(fault: Fault): string[] {
  return isGone(fault) ? [] : MENDING[fault.fact.kind](fault);
}

function objectOf({ kind, object }: Fact): string {
  if (object.startsWith("schema ") || kind === "schema")
    return kind === "schema" ? `schema ${object}` : object;
  return object.endsWith(")") ? `routine ${object}` : `table ${object}`;
}

function splitOnce(text: string, at: string): string[] {
  const index = text.indexOf(at);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + at.length)];
}

function rightStatement(fact: Fact, is: Fault["is"]): string {
  const [role = "", ...privilege] = fact.name.split(" ");
  const [what = "", column] = splitOnce(privilege.join(" "), "(");
  const columns = column === undefined ? "" : `(${pg.escapeIdentifier(column.slice(0, -1))})`;
  const right = `${what}${columns} on ${objectOf(fact)}`;
  if (is === "missing") return `grant ${right} to ${role}`;
  return is === "wrong"
    ? `revoke grant option for ${right} from ${role} cascade`
    : `revoke ${right} from ${role} cascade`;
}

const KINDS_OF_DEFAULTS: Readonly<Record<string, string>> = {
  r: "tables",
  S: "sequences",
  f: "routines",
  T: "types",
  n: "schemas",
};

function revokeDefault({ object, name }: Fact): string {
  const [owner = "", type = "", schema] = object.split(" ");
  const [role = "", privilege = ""] = name.split(" ");
  const inSchema = schema === undefined ? "" : ` in schema ${schema}`;
  const objects = KINDS_OF_DEFAULTS[type] ?? "large objects";
  return (
    `alter default privileges for role ${pg.escapeIdentifier(owner)}${inSchema} ` +
    `revoke ${privilege} on ${objects} from ${role}`
  );
}

function policyStatements({ object, name }: Fact, declared: Fact | undefined): string[] {
  const dropped = `drop policy if exists ${pg.escapeIdentifier(name)} on ${object}`;
  if (declared === undefined) return [dropped];
  const policy = TABLES[object.replace("public.", "")]!.policies.find((one) => one.name === name)!;
  return [dropped, createPolicy(object, policy)];
}

function createPolicy(
  table: string,
  { name, command, isRestrictive = false, role, using, check }: Policy,
): string {
  const kind = isRestrictive ? "restrictive" : "permissive";
  return [
    `create policy ${name} on ${table} as ${kind} for ${command} to ${ROLES[role]}`,
    ...(using === null ? [] : [`using (${using})`]),
    ...(check === null ? [] : [`with check (${check})`]),
  ].join(" ");
}

function alterFunction({ object, value }: Fact): string {
  const security = value.startsWith("definer") ? "definer" : "invoker";
  const path = value.split("search_path=")[1];
  const searchPath = path === undefined ? "" : ` set search_path = ${path}`;
  return `alter routine ${object} security ${security} reset all${searchPath}`;
}

function replaceBody({ object }: Fact): string {
  const { returns, expression } = WALL[object.replace("public.", "")]!;
  return (
    `create or replace function ${object} returns ${returns} ` +
    `language sql stable parallel safe return ${expression}`
  );
}

/** Triggers of foreign keys have no known names, so all are enabled; that needs a superuser. */
function triggerStatement({ object, name }: Fact, is: Fault["is"]): string {
  if (is === "too much") return `alter table ${object} enable trigger all`;
  return is === "missing"
    ? `create trigger ${name} ${TRIGGERS[`${object} ${name}`]!}`
    : `alter table ${object} enable trigger ${name}`;
}

const WORDS: OfKind<string> = {
  role: ({ fact }) => `has ${fact.value.replaceAll(" ", ", ")}`,
  membership: ({ fact }) => `is a member of ${fact.name}`,
  default: ({ fact }) => `gives ${fact.name.replace(" ", " the right ")} by default`,
  owner: ({ fact, declared }) => `belongs to ${fact.value}, and should to ${declared!.value}`,
  security: ({ fact, declared }) =>
    `has row-level security ${fact.value}, and should have it ${declared!.value}`,
  policy: ({ fact, is }) =>
    `has the policy ${fact.name}${is === "too much" ? ", which is none of this version" : ""}`,
  function: ({ fact, declared }) => `runs as ${fact.value}, and should as ${declared!.value}`,
  body: () => "has another body, so that the tenant wall does not hold",
  trigger: ({ fact, is }) =>
    is === "missing"
      ? `lacks the trigger ${fact.name}`
      : is === "wrong"
        ? `has the trigger ${fact.name} off`
        : "has the triggers of foreign keys off",
  schema: ({ fact, is }) => describeRight(fact.name, is),
  grant: ({ fact, is }) => describeRight(fact.name, is),
  execute: ({ fact, is }) => describeRight(fact.name, is),
};

/** Describes one fault, such as `table documents lacks the policy tenant`. */
export function describeFault(fault: Fault): string {
  const { fact, is } = fault;
  const subject = subjectOf(fact);
  if (isGone(fault)) return `${subject} is missing`;
  if (fact.kind === "policy" && is !== "too much")
    return `${subject} ${is === "missing" ? "lacks" : "has another form of"} the policy ${fact.name}`;
  return `${subject} ${WORDS[fact.kind](fault)}`;
}

function subjectOf(fact: Fact): string {
  if (fact.kind === "role" || fact.kind === "membership" || fact.kind === "default")
    return `role ${fact.object.split(" ")[0]}`;
  return objectOf(fact)
    .replace(/^routine /, "function ")
    .replace(" public.", " ");
}

function describeRight(name: string, is: Fault["is"]): string {
  const [role = "", ...privilege] = name.split(" ");
  const right = privilege.join(" ");
  if (is === "missing") return `lacks the right of ${role} to ${right}`;
  return is === "wrong" ? `lets ${role} grant ${right} to others` : `lets ${role} ${right}, and should not`;
}
