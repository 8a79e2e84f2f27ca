/** All SQL on the items of kept responses, and on the conversations that these make. */
import { type Database, type OrganizationRef, type Sql, readTenant } from "../pool.ts";
import type { SealedText } from "./sealed-text.ts";

/** How long an item is, and whether a model that goes on from it is shown it. */
export interface ItemLengths {
  readonly isShown: boolean;
  /** As JSON. */
  readonly characters: number;
  /** Of the addresses of its pictures, which count as no text. */
  readonly imageCharacters: number;
}

export interface NewItem extends SealedText, ItemLengths {
  readonly idDigest: Buffer;
}

export interface ItemRow extends SealedText {
  /** The response that it came with. */
  readonly responseId: string;
  readonly isOutput: boolean;
  readonly place: number;
  readonly characters: number;
}

export interface NewContents {
  readonly id: string;
  readonly userId: string;
  readonly beforeId: string | null;
  readonly items: readonly NewItem[];
}

/** Lengths of what a model that goes on from a conversation is shown. */
export interface ConversationLengths {
  readonly textCharacters: number;
  readonly imageCharacters: number;
}

export const bytesOf = (items: readonly SealedText[]): number =>
  items.reduce((sum, { sealed }) => sum + sealed.length, 0);

function lengthsOf(items: readonly ItemLengths[]): ConversationLengths {
  const shown = items.filter(({ isShown }) => isShown);
  const images = shown.reduce((sum, { imageCharacters }) => sum + imageCharacters, 0);
  const all = shown.reduce((sum, { characters }) => sum + characters, 0);
  return { textCharacters: all - images, imageCharacters: images };
}

/** Writes a response's input. Idempotent. @throws pg's foreign-key error if what comes before is gone. */
export async function putContents(
  sql: Sql,
  organizationId: string,
  { id, userId, beforeId, items }: NewContents,
): Promise<void> {
  const { textCharacters, imageCharacters } = lengthsOf(items);
  const { rowCount } = await sql.query(
    `insert into response_contents (
       organization_id, id, user_id, before_id, bytes, text_characters, image_characters
     )
     select $1, $2, $3, $4, $5, $6 + coalesce(before.text_characters, 0),
            $7 + coalesce(before.image_characters, 0)
     from (select) one
     left join response_contents before on before.organization_id = $1 and before.id = $4
     on conflict (organization_id, id) do nothing`,
    [organizationId, id, userId, beforeId, bytesOf(items), textCharacters, imageCharacters],
  );
  if (rowCount === 1) await insertItems(sql, organizationId, { id, isOutput: false }, items);
}

export async function addOutput(
  sql: Sql,
  organizationId: string,
  id: string,
  items: readonly NewItem[],
): Promise<void> {
  if (items.length === 0) return;
  const { textCharacters, imageCharacters } = lengthsOf(items);
  await sql.query(
    `update response_contents
     set bytes = bytes + $3,
         text_characters = text_characters + $4,
         image_characters = image_characters + $5
     where organization_id = $1
       and id = $2`,
    [organizationId, id, bytesOf(items), textCharacters, imageCharacters],
  );
  await insertItems(sql, organizationId, { id, isOutput: true }, items);
}

async function insertItems(
  sql: Sql,
  organizationId: string,
  { id, isOutput }: { readonly id: string; readonly isOutput: boolean },
  items: readonly NewItem[],
): Promise<void> {
  await sql.query(
    `insert into response_items (
       organization_id, response_id, is_output, place, id_digest, is_shown, characters, image_characters, key_id,
       sealed
     )
     select $1, $2, $3, item.no - 1, item.id_digest, item.is_shown, item.characters, item.image_characters,
            item.key_id, item.sealed
     from unnest($4::bytea[], $5::boolean[], $6::int[], $7::int[], $8::uuid[], $9::bytea[])
       with ordinality as item (id_digest, is_shown, characters, image_characters, key_id, sealed, no)`,
    [
      organizationId,
      id,
      isOutput,
      items.map(({ idDigest }) => idDigest),
      items.map(({ isShown }) => isShown),
      items.map(({ characters }) => characters),
      items.map(({ imageCharacters }) => imageCharacters),
      items.map(({ keyId }) => keyId),
      items.map(({ sealed }) => sealed),
    ],
  );
}

interface ItemRange {
  /** Whether items of the output are meant, else of the input. */
  readonly isOutput: boolean;
  /** The first place. Default 0. */
  readonly from?: number;
  /** The first place after the range; by default it goes to the end. */
  readonly to?: number;
}

/** Items of a response in their order. */
export async function readItems(
  db: Database,
  organization: OrganizationRef,
  responseId: string,
  { isOutput, from = 0, to }: ItemRange,
): Promise<ItemRow[]> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<ItemRow>(
      `select item.response_id as "responseId",
              item.is_output as "isOutput",
              item.place,
              item.characters,
              item.key_id as "keyId",
              item.sealed
       from response_items item
       where item.organization_id = $1
         and item.response_id = $2
         and item.is_output = $3
         and item.place >= $4
         and ($5::int is null or item.place < $5)
       order by item.place`,
      [organization.id, responseId, isOutput, from, to ?? null],
    ),
  );
  return rows;
}

interface InputPlaces {
  readonly count: number;
  readonly characters: number;
  /** In the order of the digests. */
  readonly places: readonly (number | null)[];
}

/** How many items the input has, how long they are, and where those of the digests are in it. */
export async function findInputPlaces(
  db: Database,
  organization: OrganizationRef,
  id: string,
  idDigests: readonly Buffer[],
): Promise<InputPlaces> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<InputPlaces>(
      `select input.count,
              input.characters,
              array(
                select (
                         select min(item.place)
                         from response_items item
                         where item.organization_id = $1
                           and item.response_id = $2
                           and not item.is_output
                           and item.id_digest = wanted.digest
                       )
                from unnest($3::bytea[]) with ordinality as wanted (digest, no)
                order by wanted.no
              ) as places
       from (
         select count(*)::int as count,
                coalesce(sum(item.characters), 0)::bigint as characters
         from response_items item
         where item.organization_id = $1
           and item.response_id = $2
           and not item.is_output
       ) input`,
      [organization.id, id, idDigests],
    ),
  );
  return rows[0]!;
}

/** Which outputs of the response have the ids of these digests, and their lengths: nothing sealed is read. */
export async function findOutputItems(
  db: Database,
  organization: OrganizationRef,
  responseId: string,
  idDigests: readonly Buffer[],
): Promise<(Omit<ItemRow, keyof SealedText> & { readonly idDigest: Buffer })[]> {
  const { rows } = await readTenant(db, organization, (sql) =>
    sql.query<Omit<ItemRow, keyof SealedText> & { idDigest: Buffer }>(
      `select item.response_id as "responseId",
              item.is_output as "isOutput",
              item.place,
              item.characters,
              item.id_digest as "idDigest"
       from response_items item
       where item.organization_id = $1
         and item.response_id = $2
         and item.is_output
         and item.id_digest = any($3::bytea[])`,
      [organization.id, responseId, idDigests],
    ),
  );
  return rows;
}
