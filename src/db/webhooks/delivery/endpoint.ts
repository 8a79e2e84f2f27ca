/** An endpoint as its deliveries need it, with the reach that its maker has now. */
import type { OrganizationRef, Sql } from "../../sql.ts";
import type { Viewer } from "../../events/visible.ts";
import type { StoredSecret } from "../records.ts";

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly spaceId: string | null;
  /** The current secret first; during a roll's overlap the one before as well. */
  readonly signers: readonly StoredSecret[];
  /** The last position of the log of which deliveries were made. */
  readonly position: number;
  readonly lastPosition: number;
  /** How many batches failed as a whole, one after the other; while there are some, one delivery is tried. */
  readonly failures: number;
  /** How long it has to wait before that; null: not at all. */
  readonly waitMs: number | null;
  /** False if its maker may not have it any more. */
  readonly isAllowed: boolean;
  /** Its maker, who has logged in, in the spaces that the endpoint may tell of. */
  readonly viewer: Viewer;
}

interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly space_id: string | null;
  readonly created_by: string;
  readonly secret_key_id: string;
  readonly sealed_secret: Buffer;
  readonly previous_secret_key_id: string | null;
  readonly sealed_previous_secret: Buffer | null;
  readonly position: number;
  readonly last_position: number;
  readonly failures: number;
  readonly wait_ms: number | null;
  readonly is_admin: boolean;
  readonly is_owner: boolean;
  readonly space_ids: readonly string[];
}

/**
 * Locks the endpoint until the end of the transaction, so that two attempts of its activity do not make the
 * same deliveries.
 * @returns undefined if it or its organization is gone, or if it is not active.
 */
export async function lockEndpoint(
  sql: Sql,
  organization: OrganizationRef,
  webhookId: string,
): Promise<Endpoint | undefined> {
  const { rows } = await sql.query<EndpointRow>(
    `select webhook.id,
            webhook.url,
            webhook.types,
            webhook.space_id,
            webhook.created_by,
            webhook.secret_key_id,
            webhook.sealed_secret,
            case when webhook.previous_until > now() then webhook.previous_secret_key_id end
              as previous_secret_key_id,
            case when webhook.previous_until > now() then webhook.sealed_previous_secret end
              as sealed_previous_secret,
            webhook.position,
            coalesce(log.last_position, 0) as last_position,
            webhook.failures,
            ceil(1000 * extract(epoch from webhook.next_attempt_at - now()))::float8 as wait_ms,
            maker.role = 'admin' and maker.removed_at is null as is_admin,
            exists (
              select from space_members member
              join spaces space on space.id = member.space_id
              where member.space_id = webhook.space_id
                and member.user_id = webhook.created_by
                and member.role = 'owner'
                and space.deleted_at is null
                and maker.removed_at is null
            ) as is_owner,
            array(
              select space.id
              from space_members member
              join spaces space on space.id = member.space_id
              where member.user_id = webhook.created_by
                and maker.removed_at is null
                and space.deleted_at is null
                and (webhook.space_id is not null or not space.is_private)
            ) as space_ids
     from webhooks webhook
     join users maker on maker.id = webhook.created_by
     join organizations organization on organization.id = webhook.organization_id
     left join event_positions log on log.organization_id = webhook.organization_id
     where webhook.id = $1
       and webhook.status = 'active'
       and organization.deleted_at is null
     for no key update of webhook`,
    [webhookId],
  );
  const row = rows[0];
  return row === undefined ? undefined : endpointOf(organization, row);
}

function endpointOf(organization: OrganizationRef, row: EndpointRow): Endpoint {
  const signers = [{ keyId: row.secret_key_id, sealed: row.sealed_secret }];
  if (row.previous_secret_key_id !== null && row.sealed_previous_secret !== null)
    signers.push({ keyId: row.previous_secret_key_id, sealed: row.sealed_previous_secret });
  return {
    id: row.id,
    url: row.url,
    types: row.types,
    spaceId: row.space_id,
    signers,
    position: row.position,
    lastPosition: row.last_position,
    failures: row.failures,
    waitMs: row.wait_ms !== null && row.wait_ms > 0 ? row.wait_ms : null,
    isAllowed: row.space_id === null ? row.is_admin : row.is_owner,
    viewer: {
      organizationId: organization.id,
      userId: row.created_by,
      callerId: row.created_by,
      hasLoggedIn: true,
      isAdmin: row.is_admin,
      spaceIds: row.space_ids,
    },
  };
}
