/** Brings what a database has and what this version declares into one form, and compares them. Pure. */
import { ROLES, type RoleName } from "../pool.ts";
import { type Grants, type Policy, SCHEMAS, type TableAccess, TABLES, VECTOR_TABLES } from "./declared.ts";
import { type FunctionAccess, FUNCTIONS, TRIGGERS, WALL } from "./declared-functions.ts";

export type FactKind =
  | "role"
  | "membership"
  | "default"
  | "owner"
  | "schema"
  | "security"
  | "policy"
  | "function"
  | "body"
  | "trigger"
  | "grant"
  | "execute";

export interface Fact {
  readonly kind: FactKind;
  /** The names of tables and functions begin with their schema. */
  readonly object: string;
  /** A right is named `<role> <privilege>` or `<role> <privilege> (<column>)`. */
  readonly name: string;
  readonly value: string;
}

const keyOf = ({ kind, object, name }: Fact): string => `${kind}|${object}|${name}`;

export const ROLE_NAMES: readonly string[] = Object.values(ROLES);

/** Used as the name of the schema's owner if that is unknown. */
export const NO_OWNER = "the owner of the schema";

/** Lists everything that this version needs and its roles may have, in a schema that belongs to `owner`. */
export function declaredFacts(owner: string): Fact[] {
  return [
    ...ROLE_NAMES.map((role): Fact => ({ kind: "role", object: role, name: "", value: "" })),
    ...Object.entries(SCHEMAS).flatMap(([schema, grants]) => grantFacts("schema", schema, grants)),
    { kind: "owner", object: "schema vectors", name: "", value: owner },
    ...Object.entries(TABLES).flatMap(([table, access]) => tableFacts(`public.${table}`, access, owner)),
    ...VECTOR_TABLES.flatMap((table): Fact[] => [
      { kind: "owner", object: table, name: "", value: ROLES.maintenance },
      { kind: "security", object: table, name: "", value: "on" },
    ]),
    ...Object.entries(FUNCTIONS).flatMap(([routine, access]) =>
      functionFacts(`public.${routine}`, access, owner),
    ),
    ...Object.entries(WALL).map(([routine, body]): Fact => ({
      kind: "body",
      object: `public.${routine}`,
      name: "",
      value: expression(`return ${body.expression}`),
    })),
    ...Object.keys(TRIGGERS).map((key): Fact => ({
      kind: "trigger",
      object: key.split(" ")[0]!,
      name: key.split(" ")[1]!,
      value: "on",
    })),
  ];
}

function tableFacts(table: string, { policies, grants }: TableAccess, owner: string): Fact[] {
  const isTenants = policies.length > 0;
  return [
    { kind: "owner", object: table, name: "", value: owner },
    { kind: "security", object: table, name: "", value: isTenants ? "on" : "off" },
    ...policies.map((policy): Fact => ({
      kind: "policy",
      object: table,
      name: policy.name,
      value: policyValue(policy),
    })),
    ...grantFacts("grant", table, grants),
  ];
}

/** Makes one fact of each privilege, or of each of its columns if it is given for columns. */
function grantFacts(kind: "grant" | "schema", object: string, grants: Grants): Fact[] {
  return Object.entries(grants).flatMap(([role, list]) =>
    [...list.matchAll(/(\w+)(?: \(([^)]*)\))?/g)].flatMap(([, privilege, columns]) => {
      const names =
        columns === undefined ? [privilege] : columns.split(", ").map((column) => `${privilege} (${column})`);
      return names.map((name): Fact => ({
        kind,
        object,
        name: `${ROLES[role as RoleName]} ${name}`,
        value: "",
      }));
    }),
  );
}

function functionFacts(
  routine: string,
  { isDefiner, searchPath, execute }: FunctionAccess,
  owner: string,
): Fact[] {
  const grantees = execute === "everybody" ? ["public"] : execute.map((role) => ROLES[role]);
  return [
    { kind: "owner", object: routine, name: "", value: owner },
    {
      kind: "function",
      object: routine,
      name: "",
      value: `${isDefiner ? "definer" : "invoker"}${searchPath === null ? "" : ` search_path=${searchPath}`}`,
    },
    ...grantees.map((grantee): Fact => ({
      kind: "execute",
      object: routine,
      name: `${grantee} execute`,
      value: "",
    })),
  ];
}

function policyValue({ command, isRestrictive = false, role, using, check }: Policy): string {
  return [
    isRestrictive ? "restrictive" : "permissive",
    command,
    ROLES[role],
    expression(using),
    expression(check),
  ].join(" | ");
}

/** Brings a policy as the catalogue has it into the form of {@link declaredFacts}. */
export function printedPolicy(value: string): string {
  const [kind = "", command = "", roles = "", using = "", check = ""] = JSON.parse(value) as Array<
    string | null
  >;
  return [kind, command, roles, expression(using), expression(check)].join(" | ");
}

/** Brings a function's body into the form of {@link declaredFacts}; null: it is no single expression. */
export const printedBody = (value: string | null): string => expression(value);

/** Leaves out what versions of Postgres print differently and nothing needs: parentheses, blanks, schema. */
function expression(text: string | null): string {
  return text === null ? "none" : text.replaceAll(/[\s()]|\bpublic\./g, "").toLowerCase();
}

export interface Fault {
  readonly fact: Fact;
  /** Undefined if this version declares no such fact. */
  readonly declared: Fact | undefined;
  readonly is: "missing" | "wrong" | "too much";
}

interface Comparison {
  readonly declared: readonly Fact[];
  readonly found: readonly Fact[];
  /** Whether a later version migrated the schema: what it gave or rewrote is no fault. */
  readonly isNewer: boolean;
}

/** Kinds that a later version may have rewritten. */
const FORMS: readonly FactKind[] = ["policy", "function", "body", "trigger"];

/** @returns faults in the order of the declaration; what is not declared comes last. */
export function compareFacts({ declared, found, isNewer }: Comparison): Fault[] {
  const wanted = new Map(declared.map((fact) => [keyOf(fact), fact]));
  const present = new Map(found.map((fact) => [keyOf(fact), fact]));
  const faults = declared.flatMap((fact): Fault[] => {
    const actual = present.get(keyOf(fact));
    if (actual === undefined)
      return isNewer && fact.kind === "trigger" ? [] : [{ fact, declared: fact, is: "missing" }];
    if (actual.value === fact.value || (isNewer && FORMS.includes(fact.kind))) return [];
    return [{ fact: actual, declared: fact, is: fact.kind === "role" ? "too much" : "wrong" }];
  });
  const more = found.filter((fact) => !wanted.has(keyOf(fact)) && (!isNewer || fact.kind === "membership"));
  return [...faults, ...more.map((fact): Fault => ({ fact, declared: undefined, is: "too much" }))];
}
