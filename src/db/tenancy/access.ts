/** Lists the spaces that a user or a key of theirs reaches or could reach, with what the policy needs. */
import type { SpaceRole } from "../../domain/tenancy/principal.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

export interface AccessRow {
  readonly space_id: string;
  readonly space_num: number;
  readonly space_name: string;
  readonly owner_id: string;
  readonly is_private: boolean;
  /** Null: the user has none in it. */
  readonly role: SpaceRole | null;
  /** False: the key is narrowed to other spaces, or is kept out of the private one. True without a key. */
  readonly is_in_key: boolean;
}

interface AccessSearch {
  readonly organizationId: string;
  readonly userId: string;
  readonly apiKeyId: string | null;
  /** Whether the user, as an admin, manages the shared spaces without a role in them. */
  readonly managesShared: boolean;
  readonly spaceId: string | null;
}

/** A key that somebody else made for its owner reaches no private space, as `reach_of` has it. */
export function listAccess(sql: Sql, search: AccessSearch, page: PageRequest): Promise<Page<AccessRow>> {
  const { organizationId, userId, apiKeyId, managesShared, spaceId } = search;
  return readPage<AccessRow>(
    sql,
    {
      columns: `
        space.id as space_id,
        space.num as space_num,
        space.name as space_name,
        space.owner_id,
        space.is_private,
        member.role,
        key.id is null or (
          (key.all_spaces or exists (
            select from api_key_spaces chosen
            where chosen.api_key_id = key.id
              and chosen.space_id = space.id
          ))
          and not (space.is_private and coalesce(key.created_by <> key.user_id, false))
        ) as is_in_key`,
      from: `
        spaces space
        left join space_members member on member.space_id = space.id and member.user_id = $2
        left join api_keys key on key.id = $3`,
      where: `
        space.organization_id = $1
        and space.deleted_at is null
        and (member.role is not null or ($4 and not space.is_private))
        and ($5::uuid is null or space.id = $5)`,
      order: "space.is_private desc, space.name, space.id",
      params: parameters([organizationId, userId, apiKeyId, managesShared, spaceId]),
    },
    page,
  );
}
