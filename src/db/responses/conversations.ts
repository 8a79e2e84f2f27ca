/** Reads what a response goes on from: the items of the responses before it, which are in a chain. */
import { type Database, type OrganizationRef, readTenant } from "../pool.ts";
import type { ConversationLengths, ItemRow } from "./items.ts";

/** The most responses of one conversation: each request about it, and its deletion, passes all of them. */
export const MAX_CONVERSATION_RESPONSES = 1_000;

/** How long the conversation is up to a response, and whether it is full; undefined if it has none. */
export async function findConversation(
  db: Database,
  organization: OrganizationRef,
  id: string,
): Promise<(ConversationLengths & { readonly isFull: boolean }) | undefined> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<ConversationLengths & { readonly isFull: boolean }>(
      `with recursive chain as (
         select before_id, 1 as responses
         from response_contents
         where organization_id = $1
           and id = $2
         union all
         select earlier.before_id, chain.responses + 1
         from chain
         join response_contents earlier
           on earlier.organization_id = $1
           and earlier.id = chain.before_id
         where chain.responses < $3
       )
       select text_characters as "textCharacters",
              image_characters as "imageCharacters",
              (select max(responses) >= $3 from chain) as "isFull"
       from response_contents
       where organization_id = $1
         and id = $2`,
      [organization.id, id, MAX_CONVERSATION_RESPONSES],
    ),
  );
  return rows[0];
}

/** The contents that come before those of a response; null if none do. */
export async function findContentsBefore(
  db: Database,
  organization: OrganizationRef,
  id: string,
): Promise<string | null> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<{ before_id: string | null }>(
      `select before_id
       from response_contents
       where organization_id = $1
         and id = $2`,
      [organization.id, id],
    ),
  );
  return rows[0]?.before_id ?? null;
}

/**
 * The items of a response and of all before it that a model is shown, oldest first.
 * @param most only the newest items that have no more than this together are read; null means all.
 */
export async function readConversation(
  db: Database,
  organization: OrganizationRef,
  id: string,
  most: { readonly textCharacters: number; readonly characters: number } | null,
): Promise<ItemRow[]> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<ItemRow>(
      `with recursive chain as (
         select own.id, own.before_id, 0 as depth
         from response_contents own
         where own.organization_id = $1
           and own.id = $2
         union all
         select earlier.id, earlier.before_id, chain.depth + 1
         from chain
         join response_contents earlier
           on earlier.organization_id = $1
           and earlier.id = chain.before_id
       ),
       weighed as (
         select part.response_id,
                part.is_output,
                part.place,
                chain.depth,
                sum(part.characters - part.image_characters) over newest_first as text_characters,
                sum(part.characters) over newest_first as characters
         from chain
         join response_items part
           on part.organization_id = $1
           and part.response_id = chain.id
           and part.is_shown
         window newest_first as (order by chain.depth, part.is_output desc, part.place desc)
       )
       select item.response_id as "responseId",
              item.is_output as "isOutput",
              item.place,
              item.characters,
              item.key_id as "keyId",
              item.sealed
       from weighed
       join response_items item
         on item.organization_id = $1
         and item.response_id = weighed.response_id
         and item.is_output = weighed.is_output
         and item.place = weighed.place
       where ($3::bigint is null or weighed.text_characters <= $3)
         and ($4::bigint is null or weighed.characters <= $4)
       order by weighed.depth desc, item.is_output, item.place`,
      [organization.id, id, most?.textCharacters ?? null, most?.characters ?? null],
    ),
  );
  return rows;
}
