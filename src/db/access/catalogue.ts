/** Reads from Postgres' catalogue, which every login may read, what its tables, functions and roles of this version are and who has which right. */
import type { Sql } from "../pool.ts";
import { FUNCTIONS, SCHEMAS, TABLES, TRIGGERS, VECTOR_TABLES, WALL } from "./declared.ts";
import { type Fact, type FactKind, printedBody, printedPolicy, ROLE_NAMES } from "./facts.ts";

/**
 * Who may do more than a role of the service should: by an attribute, by a name of Postgres or of the service, or as one that a table, function or policy of this
 * database belongs or gives something to. Groups that only let somebody log in have nothing of it. A condition on `more`, a row of `pg_roles`.
 */
export const IS_POWERFUL = `(more.rolsuper or more.rolbypassrls or more.rolcreaterole or more.rolcreatedb or more.rolreplication or more.rolname ~ '^(pg|holdfast)_'
  or exists (select from pg_shdepend d where d.refclassid = 'pg_authid'::regclass and d.refobjid = more.oid and d.classid in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_policy'::regclass)
    and d.dbid = (select oid from pg_database where datname = current_database())))`;

const FACTS = `
  with grantee as (select oid, rolname::text as name from pg_roles where rolname = any($1) union all select 0::oid, 'public'),
  schema as (select oid, nspname::text as name, nspowner, nspacl from pg_namespace where nspname = any($4)),
  relation as (
    select c.oid, c.relowner, c.relacl, c.relrowsecurity, c.relforcerowsecurity, schema.name || '.' || c.relname as name
    from pg_class c join schema on schema.oid = c.relnamespace where c.relkind in ('r', 'p') and schema.name || '.' || c.relname = any($2)),
  routine as (
    select p.oid, p.proowner, p.proacl, p.prosecdef, p.proconfig, schema.name || '.' || p.proname || '(' || oidvectortypes(p.proargtypes) || ')' as name
    from pg_proc p join schema on schema.oid = p.pronamespace
    where schema.name || '.' || p.proname || '(' || oidvectortypes(p.proargtypes) || ')' = any($3))
  select 'role' as kind, r.rolname::text as object, '' as name,
    concat_ws(' ', case when r.rolsuper then 'superuser' end, case when r.rolbypassrls then 'bypassrls' end, case when r.rolcreaterole then 'createrole' end,
      case when r.rolcreatedb then 'createdb' end, case when r.rolreplication then 'replication' end) as value
  from pg_roles r where r.rolname = any($1)
  union all
  select 'membership', member.rolname, direct.rolname, '' from pg_auth_members m join pg_roles member on member.oid = m.member join pg_roles direct on direct.oid = m.roleid
  where member.rolname = any($1) and exists (select from pg_roles more where pg_has_role(direct.oid, more.oid, 'member') and ${IS_POWERFUL})
  union all
  select 'default', concat_ws(' ', pg_get_userbyid(d.defaclrole), d.defaclobjtype, schema.name), grantee.name || ' ' || lower(a.privilege_type), ''
  from pg_default_acl d left join schema on schema.oid = d.defaclnamespace, aclexplode(d.defaclacl) a join grantee on grantee.oid = a.grantee
  where a.grantee <> 0 and (d.defaclnamespace = 0 or schema.name is not null)
  union all
  select 'owner', 'schema ' || name, '', pg_get_userbyid(nspowner) from schema where name = 'vectors'
  union all
  select 'schema', s.name, grantee.name || ' ' || lower(a.privilege_type), case when a.is_grantable then 'grantable' else '' end
  from schema s, aclexplode(coalesce(s.nspacl, acldefault('n', s.nspowner))) a join grantee on grantee.oid = a.grantee
  where a.grantee <> s.nspowner and (a.grantee <> 0 or s.name <> 'public')
  union all
  select 'owner', name, '', pg_get_userbyid(relowner) from relation
  union all
  select 'security', name, '', case when relforcerowsecurity then 'forced' when relrowsecurity then 'on' else 'off' end from relation
  union all
  select 'policy', relation.name, p.polname,
    json_build_array(case when p.polpermissive then 'permissive' else 'restrictive' end,
      case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
      (select string_agg(case when role = 0 then 'public' else pg_get_userbyid(role) end, ', ' order by role) from unnest(p.polroles) role),
      pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))::text
  from pg_policy p join relation on relation.oid = p.polrelid where exists (select from grantee where grantee.oid = any(p.polroles))
  union all
  select 'grant', r.name, grantee.name || ' ' || lower(a.privilege_type), case when a.is_grantable then 'grantable' else '' end
  from relation r, aclexplode(coalesce(r.relacl, acldefault('r', r.relowner))) a join grantee on grantee.oid = a.grantee where a.grantee <> r.relowner
  union all
  select 'grant', r.name, grantee.name || ' ' || lower(a.privilege_type) || ' (' || c.attname || ')', case when a.is_grantable then 'grantable' else '' end
  from relation r join pg_attribute c on c.attrelid = r.oid and c.attacl is not null and not c.attisdropped, aclexplode(c.attacl) a join grantee on grantee.oid = a.grantee
  where a.grantee <> r.relowner
  union all
  select 'grant', format('%I.%I', schema.nspname, other.relname), grantee.name || ' ' || lower(a.privilege_type), case when a.is_grantable then 'grantable' else '' end
  from pg_class other join pg_namespace schema on schema.oid = other.relnamespace, aclexplode(other.relacl) a join grantee on grantee.oid = a.grantee
  where a.grantee <> 0 and other.relkind in ('r', 'p', 'v', 'm', 'f') and other.oid not in (select oid from relation)
  union all
  select 'trigger', relation.name, t.tgname, case t.tgenabled when 'O' then 'on' when 'A' then 'on' else 'off' end from pg_trigger t join relation on relation.oid = t.tgrelid
  where relation.name || ' ' || t.tgname = any($5)
  union all
  select 'trigger', relation.name, 'of foreign keys', 'off' from relation where exists (select from pg_trigger t where t.tgrelid = relation.oid and t.tgisinternal and t.tgenabled = 'D')
  union all
  select 'body', name, '', pg_get_function_sqlbody(oid) from routine where name = any($6)
  union all
  select 'owner', name, '', pg_get_userbyid(proowner) from routine
  union all
  select 'function', name, '', concat_ws(' ', case when prosecdef then 'definer' else 'invoker' end, array_to_string(proconfig, ' ')) from routine
  union all
  select 'execute', r.name, grantee.name || ' execute', case when a.is_grantable then 'grantable' else '' end
  from routine r, aclexplode(coalesce(r.proacl, acldefault('f', r.proowner))) a join grantee on grantee.oid = a.grantee where a.grantee <> r.proowner`;

/** Kinds whose value is an expression. */
const PRINTED: Readonly<Partial<Record<FactKind, (value: string) => string>>> = {
  policy: printedPolicy,
  body: printedBody,
};

/** One statement over the catalogue: some milliseconds. What belongs to no table, function or role of this version is left out. */
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
