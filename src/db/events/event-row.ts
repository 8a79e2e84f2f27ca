/** An event as it is read: its place in the log, and the fields that callers and receivers are shown. */

export interface EventRow {
  readonly num: number;
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly occurred_at: Date;
  readonly organization_id: string;
  readonly space_id: string | null;
  readonly resource: { readonly type: string; readonly id: string | null };
  readonly actor: {
    readonly type: "user" | "api_key" | "system";
    readonly user_id: string | null;
    readonly api_key_id: string | null;
  };
  readonly request_id: string | null;
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

/** The columns of an {@link EventRow}, from a table with the alias `event`. */
export const EVENT_COLUMNS = `event.num,
         event.position,
         event.id,
         event.type,
         event.occurred_at,
         event.organization_id,
         event.space_id,
         jsonb_build_object('type', event.resource_type, 'id', event.resource_id) as resource,
         jsonb_build_object(
           'type', case event.auth_method when 'jwt' then 'user' else event.auth_method end,
           'user_id', event.actor_id,
           'api_key_id', event.api_key_id
         ) as actor,
         event.request_id,
         event.data`;
