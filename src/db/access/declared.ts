/**
 * Declares who may do what in the database: the policies and rights of each table, function and schema.
 * Numbered migrations gave them once, but a database that was restored or changed by hand may lack some. A
 * migration that adds a table or a right adds it here too; test/db/access/access.database.test.ts compares
 * the two.
 */
import type { RoleName } from "../pool.ts";

export interface Policy {
  readonly name: string;
  readonly command: "all" | "select" | "insert" | "update" | "delete";
  /** Whether rows must match this policy besides a permissive one. Default false. */
  readonly isRestrictive?: boolean;
  readonly role: RoleName;
  /** An expression as Postgres prints it; null if the command has none. */
  readonly using: string | null;
  /** Like `using`; null also if `using` holds for both. */
  readonly check: string | null;
}

/** For each role the text between `grant` and `on`, such as `select, update (name)`. */
export type Grants = Readonly<Partial<Record<RoleName, string>>>;

export interface TableAccess {
  /** A table without policies belongs to the instance and has no row-level security. */
  readonly policies: readonly Policy[];
  readonly grants: Grants;
}

export interface FunctionAccess {
  /** Whether it runs with its owner's rights. */
  readonly isDefiner: boolean;
  readonly searchPath: string | null;
  readonly execute: readonly RoleName[] | "everybody";
}

const BY_ID = "organization_id = ( SELECT current_organization_id() AS current_organization_id)";
const BY_NUM = "organization_num = ( SELECT current_organization_num() AS current_organization_num)";
const ALL = "select, insert, update, delete";

const only = (expression: string): Policy => ({
  name: "tenant",
  command: "all",
  role: "app",
  using: expression,
  check: expression,
});
const every = (role: RoleName): Policy => ({
  name: role,
  command: "all",
  role,
  using: "true",
  check: "true",
});

/**
 * A table whose rows belong to organizations. By default the application has all rights to those of its
 * organization.
 */
function tenant(
  expression: string,
  more: {
    readonly app?: string;
    readonly system?: string;
    readonly maintenance?: string;
    readonly policies?: readonly Policy[];
  } = {},
): TableAccess {
  const {
    app = ALL,
    system,
    maintenance,
    policies = maintenance === undefined ? [] : [every("maintenance")],
  } = more;
  return {
    policies: [only(expression), ...(system === undefined ? [] : [every("system")]), ...policies],
    grants: {
      app,
      ...(system === undefined ? {} : { system }),
      ...(maintenance === undefined ? {} : { maintenance }),
    },
  };
}

const ofInstance = (grants: Grants): TableAccess => ({ policies: [], grants });

const KEY_LIFETIMES = "max_key_lifetime_seconds, default_key_lifetime_seconds";
const CLOSED =
  "EXISTS ( SELECT FROM organizations o " +
  "WHERE ((o.id = spaces.organization_id) AND (o.deleted_at IS NOT NULL)))";

/** Tables of the schema `public`. The roles of the service may have no right to any other. */
export const TABLES: Readonly<Record<string, TableAccess>> = {
  agents: tenant(BY_ID, {
    system: "select (id, conversation_count), update (conversation_count)",
    maintenance: "select, insert, update",
  }),
  api_key_spaces: tenant(BY_ID, { maintenance: ALL }),
  api_keys: tenant(BY_ID, { maintenance: "select, insert, update" }),
  api_processes: ofInstance({ app: ALL, system: ALL }),
  audit_chains: tenant(BY_ID, { app: "select", maintenance: "select, insert, update" }),
  audit_log: tenant(BY_ID, {
    app: "select",
    maintenance: "select, delete, update (chain_seq, chain_hash)",
    policies: [
      { name: "maintenance_reads", command: "select", role: "maintenance", using: "true", check: null },
      { name: "maintenance_links", command: "update", role: "maintenance", using: "true", check: "true" },
      {
        name: "maintenance_expires",
        command: "delete",
        role: "maintenance",
        using: "(chain_seq IS NOT NULL) AND (at < (now() - '399 days'::interval))",
        check: null,
      },
    ],
  }),
  batches: tenant(BY_ID, { system: ALL }),
  chunks: tenant(BY_ID),
  claim_turns: tenant(BY_ID, { system: ALL }),
  claims: tenant(BY_ID, { system: ALL }),
  cut_overs: ofInstance({ system: "select, insert (name)" }),
  deletions: tenant(BY_ID, { system: ALL }),
  documents: tenant(BY_ID),
  embedding_cache: tenant(BY_ID),
  embedding_cache_references: tenant(BY_ID),
  embedding_models: ofInstance({ app: "select, insert", system: "select", maintenance: "select" }),
  embeddings: tenant(BY_NUM, {
    maintenance: "select, delete",
    policies: [{ name: "maintenance", command: "all", role: "maintenance", using: "true", check: "false" }],
  }),
  folders: tenant(BY_ID),
  hidden_runs: tenant(BY_NUM, { system: ALL }),
  idempotency_keys: tenant(BY_ID, { system: ALL }),
  instance_secrets: ofInstance({ app: "select, insert", maintenance: "select, update" }),
  kept_turn_pieces: tenant(BY_ID),
  kept_turns: tenant(BY_ID, { system: ALL }),
  leaked_keys: ofInstance({}),
  migrations: ofInstance({ app: "select", system: "select", maintenance: "select" }),
  operations: ofInstance({ system: "select, update", maintenance: "select, insert, update" }),
  organization_keys: tenant(BY_ID, { maintenance: "select, update, delete" }),
  organizations: {
    policies: [
      {
        name: "tenant",
        command: "all",
        role: "app",
        using: "id = ( SELECT current_organization_id() AS current_organization_id)",
        check: null,
      },
      { name: "system", command: "all", role: "system", using: "true", check: null },
      every("maintenance"),
      {
        name: "maintenance_deletes",
        command: "delete",
        isRestrictive: true,
        role: "maintenance",
        using: "deleted_at IS NOT NULL",
        check: null,
      },
    ],
    grants: {
      app: `select, update (${KEY_LIFETIMES})`,
      system: "select",
      maintenance: `select, delete, insert (id, name, ${KEY_LIFETIMES}), update (name, ${KEY_LIFETIMES})`,
    },
  },
  pipeline_runs: tenant(BY_ID, { system: ALL }),
  posting_runs: tenant(BY_NUM, { system: ALL }),
  posting_segments: tenant(BY_NUM, { system: ALL }),
  postings: tenant(BY_NUM),
  provider_gates: ofInstance({ app: "select, insert, update", system: "select, insert, update" }),
  rate_limits: ofInstance({ app: "select, insert, update", system: "select, delete" }),
  raw_files: tenant(BY_ID),
  space_members: tenant(BY_ID, { maintenance: ALL }),
  space_statistics: tenant(BY_NUM, { system: ALL }),
  spaces: tenant(BY_ID, {
    maintenance: ALL,
    policies: [
      every("maintenance"),
      {
        name: "maintenance_deletes",
        command: "delete",
        isRestrictive: true,
        role: "maintenance",
        using: CLOSED,
        check: null,
      },
    ],
  }),
  superseded_keys: tenant(BY_ID, { maintenance: "select, insert, update" }),
  text_blocks: tenant(BY_ID),
  turn_calls: tenant(BY_ID, { system: ALL }),
  turns: tenant(BY_ID, { system: ALL }),
  upload_intents: tenant(BY_ID, { system: ALL }),
  users: tenant(BY_ID, { maintenance: "select, insert, update" }),
  vector_indexes: tenant(BY_NUM, { system: ALL, maintenance: ALL }),
};

/**
 * Partitions of `embeddings`, in the schema `vectors`. Maintenance owns them, since it builds their indexes;
 * everybody else reads them through `embeddings`.
 */
export const VECTOR_TABLES: readonly string[] = Array.from(
  { length: 64 },
  (_, part) => `vectors.embeddings_${part}`,
);

const definer = (execute: readonly RoleName[], searchPath = "public, pg_temp"): FunctionAccess => ({
  isDefiner: true,
  searchPath,
  execute,
});
const CATALOGUE = "pg_catalog, pg_temp";
const open: FunctionAccess = { isDefiner: false, searchPath: null, execute: "everybody" };

/** Functions of the schema `public` by name and types of their arguments, without those of extensions. */
export const FUNCTIONS: Readonly<Record<string, FunctionAccess>> = {
  "append_audit_rows(jsonb)": definer(["app", "maintenance"]),
  "authenticate_caller_key(bytea)": definer(["app"]),
  "authenticate_key(bytea)": definer(["app"]),
  "authenticate_subject(text, text)": definer(["app"]),
  "authenticate_token(text, text)": definer(["app"]),
  "close_organization(uuid)": definer(["maintenance"], CATALOGUE),
  "closed_organization_num(uuid)": definer([], CATALOGUE),
  "count_faults(integer[], bigint[], integer[], bigint[])": definer(["app"]),
  "count_rows_of_closed(uuid)": definer(["maintenance"], CATALOGUE),
  "current_organization_id()": open,
  "current_organization_num()": open,
  "delete_rows_of_closed(uuid, regclass, integer)": definer(["maintenance"], CATALOGUE),
  "folder_path(uuid)": open,
  "forget_vectors()": { isDefiner: false, searchPath: CATALOGUE, execute: [] },
  "has_private_space(uuid)": definer([]),
  "note_key_creator()": definer([]),
  "open_to_system(regclass)": open,
  "orphan_runs(integer[], integer[])": definer(["app"]),
  "protect_tenant_table(regclass)": open,
  "reach_of(uuid, uuid)": definer(["app"]),
  "removed_users(uuid[])": definer(["system"], "pg_catalog, public"),
  "report_leaked_keys(bytea[], integer)": definer(["app"]),
  "revoke_leaked_keys(integer)": definer(["app"]),
  "run_lane(text, bigint)": open,
  "run_user(uuid)": open,
  "tenant_tables()": { isDefiner: false, searchPath: CATALOGUE, execute: ["maintenance"] },
  "touch_api_keys(uuid[], timestamp with time zone[])": definer(["app"]),
  "touch_caller_keys(uuid[], timestamp with time zone[], inet[], text[])": definer(["app"]),
};

/**
 * The functions that all policies of tenants use: what they return, and their expression as Postgres prints
 * it.
 */
export const WALL: Readonly<Record<string, { readonly returns: string; readonly expression: string }>> = {
  "current_organization_id()": {
    returns: "uuid",
    expression: "(NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid",
  },
  "current_organization_num()": {
    returns: "integer",
    expression: "(NULLIF(current_setting('app.organization_num'::text, true), ''::text))::integer",
  },
};

/** For each table and trigger the text after `create trigger <name>`. */
export const TRIGGERS: Readonly<Record<string, string>> = {
  "public.audit_log note_key_creator":
    "after insert on audit_log for each row when (" +
    "new.action = 'api_keys:create' and new.resource_type = 'api_key' " +
    "and new.outcome = 'success' and new.actor_id is not null" +
    ") execute function note_key_creator()",
  "public.spaces forget_vectors": "after delete on spaces for each row execute function forget_vectors()",
};

/** Rights to schemas. Building an index needs `create` in `vectors`. */
export const SCHEMAS: Readonly<Record<string, Grants>> = {
  public: { app: "usage", system: "usage", maintenance: "usage" },
  vectors: { maintenance: "usage, create" },
};
