/**
 * Declares the functions and triggers of the database, and who may call them. The schema makes them; a
 * migration that adds one adds it here too, and test/db/access/access.database.test.ts compares the two.
 */
import type { RoleName } from "../pool.ts";

export interface FunctionAccess {
  /** Whether it runs with its owner's rights. */
  readonly isDefiner: boolean;
  readonly searchPath: string | null;
  readonly execute: readonly RoleName[] | "everybody";
}

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
  "audience_of_event(text)": { isDefiner: false, searchPath: null, execute: [] },
  "authenticate_caller_key(bytea)": definer(["app"]),
  "authenticate_key(bytea)": definer(["app"]),
  "authenticate_subject(text, text)": definer(["app"]),
  "authenticate_token(text, text)": definer(["app"]),
  "callers_of_space(uuid)": definer([]),
  "close_organization(uuid)": definer(["maintenance"], CATALOGUE),
  "closed_organization_num(uuid)": definer([], CATALOGUE),
  "count_faults(integer[], bigint[], integer[], bigint[])": definer(["app"]),
  "count_response_bytes()": { isDefiner: false, searchPath: "public, pg_temp", execute: [] },
  "count_rows_of_closed(uuid)": definer(["maintenance"], CATALOGUE),
  "current_organization_id()": open,
  "current_organization_num()": open,
  "delete_rows_of_closed(uuid, regclass, integer)": definer(["maintenance"], CATALOGUE),
  "event_of_change(text, text)": { isDefiner: false, searchPath: null, execute: [] },
  "find_receipt_key(text)": definer(["app"]),
  "folder_path(uuid)": open,
  "forget_vectors()": { isDefiner: false, searchPath: CATALOGUE, execute: [] },
  "has_private_space(uuid)": definer([]),
  "note_agent_change()": definer([]),
  "note_attempt()": definer([]),
  "note_batch_event()": definer([]),
  "note_batch_key()": definer([]),
  "note_key_creator()": definer([]),
  "note_run_event()": definer([]),
  "note_run_progress()": definer([]),
  "note_turn_events()": definer([]),
  "open_to_system(regclass)": open,
  "orphan_runs(integer[], integer[])": definer(["app"]),
  "place_events(uuid, integer)": {
    isDefiner: false,
    searchPath: "public, pg_temp",
    execute: ["system"],
  },
  "protect_tenant_table(regclass)": open,
  "reach_of(uuid, uuid)": definer(["app"]),
  "release_response_contents()": { isDefiner: false, searchPath: "public, pg_temp", execute: [] },
  "removed_users(uuid[])": definer(["system"], "pg_catalog, public"),
  "report_leaked_keys(bytea[], integer)": definer(["app"]),
  "revoke_leaked_keys(integer)": definer(["app"]),
  "run_lane(text, bigint)": open,
  "run_user(uuid)": open,
  "tell_agents_changed()": { isDefiner: false, searchPath: CATALOGUE, execute: [] },
  "tenant_tables()": { isDefiner: false, searchPath: CATALOGUE, execute: ["maintenance"] },
  "touch_api_keys(uuid[], timestamp with time zone[])": definer(["app"]),
  "touch_caller_keys(uuid[], timestamp with time zone[], inet[], text[])": definer(["app"]),
};

/** The functions that all tenants' policies use: what they return, and how Postgres prints them. */
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
  "public.audit_log note_batch_key":
    "after insert on audit_log for each row when (" +
    "new.resource_type = 'batch' and new.outcome = 'success' and new.api_key_id is not null" +
    ") execute function note_batch_key()",
  "public.audit_log note_key_creator":
    "after insert on audit_log for each row when (" +
    "new.action = 'api_keys:create' and new.resource_type = 'api_key' " +
    "and new.outcome = 'success' and new.actor_id is not null" +
    ") execute function note_key_creator()",
  "public.batches note_batch_event":
    "after update on batches for each row when (" +
    "new.completed_at is not null and old.completed_at is null" +
    ") execute function note_batch_event()",
  "public.agents note_agent_change":
    "after update on agents for each row when (new.conversation_count = old.conversation_count) " +
    "execute function note_agent_change()",
  "public.agents note_agent_creation":
    "after insert on agents for each row execute function note_agent_change()",
  "public.agents tell_agents_changed":
    "after update on agents for each row when (new.conversation_count = old.conversation_count) " +
    "execute function tell_agents_changed()",
  "public.pipeline_runs note_attempt":
    "before update on pipeline_runs for each row when (" +
    "new.attempt_id is distinct from old.attempt_id " +
    "or (new.status in ('completed', 'failed', 'cancelled') and new.status <> old.status)" +
    ") execute function note_attempt()",
  "public.pipeline_runs note_run_progress":
    "after update on pipeline_runs for each row when (" +
    "new.status in ('parsing', 'chunking', 'embedding') and new.status <> old.status" +
    ") execute function note_run_progress()",
  "public.pipeline_runs note_run_event":
    "after update on pipeline_runs for each row when (" +
    "(new.status in ('completed', 'failed', 'cancelled') and new.status <> old.status) " +
    "or (new.waiting_for is not null and new.waiting_for is distinct from old.waiting_for)" +
    ") execute function note_run_event()",
  "public.response_contents count_response_bytes":
    "after insert or delete or update of bytes on response_contents " +
    "for each row execute function count_response_bytes()",
  "public.responses count_response_bytes":
    "after insert or delete or update of sealed_request, sealed_response, event_bytes on responses " +
    "for each row execute function count_response_bytes()",
  "public.responses release_response_contents":
    "after delete on responses for each row execute function release_response_contents()",
  "public.spaces forget_vectors": "after delete on spaces for each row execute function forget_vectors()",
  "public.spaces tell_agents_changed":
    "after update on spaces for each row when (new.deleted_at is distinct from old.deleted_at) " +
    "execute function tell_agents_changed()",
  "public.turns note_turn_ends":
    "after insert on turns referencing new table as written " +
    "for each statement execute function note_turn_events()",
  "public.turns note_turn_ends_later":
    "after update on turns referencing old table as overwritten new table as written " +
    "for each statement execute function note_turn_events()",
};
