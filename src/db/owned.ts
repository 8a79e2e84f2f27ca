/** The condition of statements about what belongs to a person and not to a space. */

/**
 * True for a row that the caller reaches; $1 and $2 are the values of `ownedBy`.
 * @param table its alias in the statement
 * @param person the column of the person that it belongs to
 * @see src/domain/tenancy/ownership.ts
 */
export const isOwned = (table: string, person: "user_id" | "created_by" = "user_id"): string =>
  `${table}.${person} = $1
       and ($2::uuid is null or ${table}.api_key_id = $2)`;
