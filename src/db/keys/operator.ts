/** Reads keys for the command line, whose operator belongs to no organization. */
import { PRIVATE_SPACE } from "../../domain/tenancy/provision-file.ts";
import type { Capability, OrganizationRole } from "../../domain/tenancy/principal.ts";
import { type Database, type OrganizationRef, queryOnce } from "../pool.ts";
import type { ApiKeyRow } from "./api-keys.ts";

export async function findOrganizationOfKey(db: Database, id: string): Promise<OrganizationRef | undefined> {
  const { rows } = await queryOnce<OrganizationRef>(
    db.maintenance,
    `select organization.id, organization.num
     from api_keys key
     join organizations organization on organization.id = key.organization_id
     where key.id = $1`,
    [id],
  );
  return rows[0];
}

export type ListedApiKey = Pick<
  ApiKeyRow,
  | "id"
  | "name"
  | "prefix"
  | "created_at"
  | "created_by"
  | "expires_at"
  | "allowed_cidrs"
  | "last_used_at"
  | "last_used_ip"
  | "revoked_at"
  | "revoked_reason"
> & {
  readonly email: string;
  /** The owner's role in the organization. */
  readonly role: OrganizationRole;
  readonly organization: string;
  readonly capabilities: readonly Capability[];
  /** Names of the spaces that it is narrowed to; null means all that its owner reaches. */
  readonly spaces: readonly string[] | null;
};

const LISTED_KEYS = `
  select key.id,
         organization.name as organization,
         owner.email,
         owner.role,
         key.name,
         key.prefix,
         key.created_at,
         key.created_by,
         key.expires_at,
         key.allowed_cidrs,
         key.last_used_at,
         host(key.last_used_ip) as last_used_ip,
         key.revoked_at,
         key.revoked_reason,
         key.capabilities,
         case when not key.all_spaces then array(
           select case when space.is_private then '${PRIVATE_SPACE}' else space.name end
           from api_key_spaces chosen
           join spaces space on space.id = chosen.space_id
           where chosen.api_key_id = key.id
             and space.deleted_at is null
           order by 1
         ) end as spaces
  from api_keys key
  join users owner on owner.id = key.user_id
  join organizations organization on organization.id = key.organization_id
  where $1::text is null
    or lower(owner.email) = lower($1)
  order by key.created_at desc, key.id desc
  limit $2`;

/** Lists the newest `limit` keys, newest first. @param email whose keys; null: all users' everywhere. */
export async function listAllApiKeys(
  db: Database,
  { email, limit }: { readonly email: string | null; readonly limit: number },
): Promise<ListedApiKey[]> {
  return (await queryOnce<ListedApiKey>(db.maintenance, LISTED_KEYS, [email, limit])).rows;
}
