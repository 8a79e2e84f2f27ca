/**
 * Declares who may do what in the database: the policies and rights of each table and schema. `migrate` gives
 * them to a new database, and again to one that was restored or changed by hand. A migration that adds a
 * table or a right adds it here too; test/db/access/access.database.test.ts compares the two.
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

/** A table of organizations' rows. By default the application has all rights to its organization's. */
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
  agent_changes: tenant(BY_ID, { app: "select, delete" }),
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
  budgets_reached: tenant(BY_ID, { app: "select, insert", system: "select, delete" }),
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
  event_positions: tenant(BY_ID, { app: "select", system: ALL }),
  events: tenant(BY_ID, {
    app: "select, insert",
    system:
      "delete, select (num, organization_id, position, occurred_at, type, space_id, space_ids, resource_id), " +
      "update (position)",
  }),
  folders: tenant(BY_ID),
  hidden_runs: tenant(BY_NUM, { system: ALL }),
  idempotency_keys: tenant(BY_ID, { system: ALL }),
  instance_secrets: ofInstance({ app: "select, insert", maintenance: "select, update" }),
  kept_turn_pieces: tenant(BY_ID),
  kept_turns: tenant(BY_ID, { system: ALL }),
  language_fits: tenant(BY_NUM, { system: "select" }),
  leaked_keys: ofInstance({}),
  mcp_answer_messages: tenant(BY_ID),
  mcp_answers: tenant(BY_ID, { system: ALL }),
  mcp_sessions: tenant(BY_ID, { system: ALL }),
  migrations: ofInstance({ app: "select", system: "select", maintenance: "select" }),
  openai_files: tenant(BY_ID),
  operations: ofInstance({ system: "select, update", maintenance: "select, insert, update" }),
  orphan_counts: ofInstance({ system: "select, update" }),
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
  processes: ofInstance({ system: ALL }),
  provider_gates: ofInstance({ app: "select, insert, update", system: "select, insert, update" }),
  rate_limits: ofInstance({ app: "select, insert, update", system: "select, delete" }),
  raw_files: tenant(BY_ID),
  receipt_keys: tenant(BY_ID),
  response_contents: tenant(BY_ID, { system: ALL }),
  response_events: tenant(BY_ID),
  response_items: tenant(BY_ID),
  response_usage: tenant(BY_ID, { system: ALL }),
  responses: tenant(BY_ID, { system: ALL }),
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
  vector_store_batches: tenant(BY_ID),
  vector_store_files: tenant(BY_ID),
  vector_stores: tenant(BY_ID),
  webhook_deliveries: tenant(BY_ID, {
    system:
      "delete, select (num, organization_id, webhook_id, status, attempts, created_at, next_attempt_at)",
  }),
  webhook_replays: tenant(BY_ID),
  webhooks: tenant(BY_ID, {
    system:
      "delete, select (id, organization_id, space_id, types, status, status_reason, position, is_resting, " +
      "next_attempt_at, leased_until, failing_since, failures, deleted_at), update (leased_until, position)",
  }),
};

/** Partitions of `embeddings`. Maintenance owns them for their indexes; others read `embeddings`. */
export const VECTOR_TABLES: readonly string[] = Array.from(
  { length: 64 },
  (_, part) => `vectors.embeddings_${part}`,
);

/** Rights to schemas. Building an index needs `create` in `vectors`. */
export const SCHEMAS: Readonly<Record<string, Grants>> = {
  public: { app: "usage", system: "usage", maintenance: "usage" },
  vectors: { maintenance: "usage, create" },
};
