/** Reads from Postgres' catalogue what this version's roles, tables and functions are; any login may. */
import type { Sql } from "../sql.ts";
import { SCHEMAS, TABLES, VECTOR_TABLES } from "./declared.ts";
import { FUNCTIONS, TRIGGERS, WALL } from "./declared-functions.ts";
import { type Fact, type FactKind, printedBody, printedPolicy, ROLE_NAMES } from "./facts.ts";

/**
 * A condition on a row `more` of `pg_roles`: whether that role may do more than a role of the service should.
 * It may by an attribute, by being one of Postgres' or the service's own roles, or because a table, function
 * or policy of this database belongs to it or gives it something. Groups that merely let somebody log in have
 * none of that.
 */
export const IS_POWERFUL = `(
  more.rolsuper
  or more.rolbypassrls
  or more.rolcreaterole
  or more.rolcreatedb
  or more.rolreplication
  or more.rolname ~ '^(pg|holdfast)_'
  or exists (
    select
    from pg_shdepend dependency
    where dependency.refclassid = 'pg_authid'::regclass
      and dependency.refobjid = more.oid
      and dependency.classid in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_policy'::regclass)
      and dependency.dbid = (select oid from pg_database where datname = current_database())
  )
)`;

/** Each part of the union gives the facts of one kind (see `FactKind`) as kind, object, name and value. */
const FACTS = `
  with grantee as (
    select oid, rolname::text as name
    from pg_roles
    where rolname = any($1)
    union all
    select 0::oid, 'public'
  ),
  schema as (
    select oid, nspname::text as name, nspowner, nspacl
    from pg_namespace
    where nspname = any($4)
  ),
  relation as (
    select class.oid,
           class.relowner,
           class.relacl,
           class.relrowsecurity,
           class.relforcerowsecurity,
           schema.name || '.' || class.relname as name
    from pg_class class
    join schema on schema.oid = class.relnamespace
    where class.relkind in ('r', 'p')
      and schema.name || '.' || class.relname = any($2)
  ),
  routine as (
    select proc.oid,
           proc.proowner,
           proc.proacl,
           proc.prosecdef,
           proc.proconfig,
           schema.name || '.' || proc.proname || '(' || oidvectortypes(proc.proargtypes) || ')' as name
    from pg_proc proc
    join schema on schema.oid = proc.pronamespace
    where schema.name || '.' || proc.proname || '(' || oidvectortypes(proc.proargtypes) || ')' = any($3)
  )
  select 'role' as kind,
         role.rolname::text as object,
         '' as name,
         concat_ws(
           ' ',
           case when role.rolsuper then 'superuser' end,
           case when role.rolbypassrls then 'bypassrls' end,
           case when role.rolcreaterole then 'createrole' end,
           case when role.rolcreatedb then 'createdb' end,
           case when role.rolreplication then 'replication' end
         ) as value
  from pg_roles role
  where role.rolname = any($1)

  union all
  select 'membership', member.rolname, direct.rolname, ''
  from pg_auth_members membership
  join pg_roles member on member.oid = membership.member
  join pg_roles direct on direct.oid = membership.roleid
  where member.rolname = any($1)
    and exists (
      select
      from pg_roles more
      where pg_has_role(direct.oid, more.oid, 'member')
        and ${IS_POWERFUL}
    )

  union all
  select 'default',
         concat_ws(' ', pg_get_userbyid(defaults.defaclrole), defaults.defaclobjtype, schema.name),
         grantee.name || ' ' || lower(acl.privilege_type),
         ''
  from pg_default_acl defaults
  left join schema on schema.oid = defaults.defaclnamespace,
  aclexplode(defaults.defaclacl) acl
  join grantee on grantee.oid = acl.grantee
  where acl.grantee <> 0
    and (defaults.defaclnamespace = 0 or schema.name is not null)

  union all
  select 'owner', 'schema ' || name, '', pg_get_userbyid(nspowner)
  from schema
  where name = 'vectors'

  union all
  select 'schema',
         schema.name,
         grantee.name || ' ' || lower(acl.privilege_type),
         case when acl.is_grantable then 'grantable' else '' end
  from schema,
  aclexplode(coalesce(schema.nspacl, acldefault('n', schema.nspowner))) acl
  join grantee on grantee.oid = acl.grantee
  where acl.grantee <> schema.nspowner
    and (acl.grantee <> 0 or schema.name <> 'public')

  union all
  select 'owner', name, '', pg_get_userbyid(relowner)
  from relation

  union all
  select 'security',
         name,
         '',
         case when relforcerowsecurity then 'forced' when relrowsecurity then 'on' else 'off' end
  from relation

  union all
  select 'policy',
         relation.name,
         policy.polname,
         json_build_array(
           case when policy.polpermissive then 'permissive' else 'restrictive' end,
           case policy.polcmd
             when 'r' then 'select'
             when 'a' then 'insert'
             when 'w' then 'update'
             when 'd' then 'delete'
             else 'all'
           end,
           (
             select string_agg(
               case when role = 0 then 'public' else pg_get_userbyid(role) end,
               ', '
               order by role
             )
             from unnest(policy.polroles) role
           ),
           pg_get_expr(policy.polqual, policy.polrelid),
           pg_get_expr(policy.polwithcheck, policy.polrelid)
         )::text
  from pg_policy policy
  join relation on relation.oid = policy.polrelid
  where exists (select from grantee where grantee.oid = any(policy.polroles))

  union all
  select 'grant',
         relation.name,
         grantee.name || ' ' || lower(acl.privilege_type),
         case when acl.is_grantable then 'grantable' else '' end
  from relation,
  aclexplode(coalesce(relation.relacl, acldefault('r', relation.relowner))) acl
  join grantee on grantee.oid = acl.grantee
  where acl.grantee <> relation.relowner

  union all
  select 'grant',
         relation.name,
         grantee.name || ' ' || lower(acl.privilege_type) || ' (' || attribute.attname || ')',
         case when acl.is_grantable then 'grantable' else '' end
  from relation
  join pg_attribute attribute
    on attribute.attrelid = relation.oid
    and attribute.attacl is not null
    and not attribute.attisdropped,
  aclexplode(attribute.attacl) acl
  join grantee on grantee.oid = acl.grantee
  where acl.grantee <> relation.relowner

  union all
  select 'grant',
         format('%I.%I', namespace.nspname, other.relname),
         grantee.name || ' ' || lower(acl.privilege_type),
         case when acl.is_grantable then 'grantable' else '' end
  from pg_class other
  join pg_namespace namespace on namespace.oid = other.relnamespace,
  aclexplode(other.relacl) acl
  join grantee on grantee.oid = acl.grantee
  where acl.grantee <> 0
    and other.relkind in ('r', 'p', 'v', 'm', 'f')
    and other.oid not in (select oid from relation)

  union all
  select 'trigger',
         relation.name,
         trigger.tgname,
         case trigger.tgenabled when 'O' then 'on' when 'A' then 'on' else 'off' end
  from pg_trigger trigger
  join relation on relation.oid = trigger.tgrelid
  where relation.name || ' ' || trigger.tgname = any($5)

  union all
  select 'trigger', relation.name, 'of foreign keys', 'off'
  from relation
  where exists (
    select
    from pg_trigger trigger
    where trigger.tgrelid = relation.oid
      and trigger.tgisinternal
      and trigger.tgenabled = 'D'
  )

  union all
  select 'body', name, '', pg_get_function_sqlbody(oid)
  from routine
  where name = any($6)

  union all
  select 'owner', name, '', pg_get_userbyid(proowner)
  from routine

  union all
  select 'function',
         name,
         '',
         concat_ws(
           ' ',
           case when prosecdef then 'definer' else 'invoker' end,
           array_to_string(proconfig, ' ')
         )
  from routine

  union all
  select 'execute',
         routine.name,
         grantee.name || ' execute',
         case when acl.is_grantable then 'grantable' else '' end
  from routine,
  aclexplode(coalesce(routine.proacl, acldefault('f', routine.proowner))) acl
  join grantee on grantee.oid = acl.grantee
  where acl.grantee <> routine.proowner`;

/** For kinds whose value is an expression: brings what Postgres prints into one form. */
const PRINTED: Readonly<Partial<Record<FactKind, (value: string) => string>>> = {
  policy: printedPolicy,
  body: printedBody,
};

/**
 * Reads all facts in one statement over the catalogue, within milliseconds. Leaves out everything that does
 * not belong to a table, function or role of this version.
 */
export async function readFacts(sql: Sql): Promise<Fact[]> {
  const tables = [...Object.keys(TABLES).map((table) => `public.${table}`), ...VECTOR_TABLES];
  const functions = Object.keys(FUNCTIONS).map((routine) => `public.${routine}`);
  const wall = Object.keys(WALL).map((routine) => `public.${routine}`);
  const { rows } = await sql.query<Fact>(FACTS, [
    ROLE_NAMES,
    tables,
    functions,
    Object.keys(SCHEMAS),
    Object.keys(TRIGGERS),
    wall,
  ]);
  return rows.map((fact) => ({ ...fact, value: PRINTED[fact.kind]?.(fact.value) ?? fact.value }));
}
