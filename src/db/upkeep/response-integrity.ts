/** Counts what is wrong with the stored responses of one organization. */
import type { Sql } from "../sql.ts";

/** Each must be 0. */
export interface ResponseFaultCounts {
  /** Users for whom another number of bytes is noted than is kept. */
  readonly response_usage_wrong: number;
  /** Contents that no response has or goes on from. */
  readonly response_contents_unneeded: number;
}

/** Lengths are read without the sealed bytes. */
const COUNT = `
  with kept as (
    select user_id, sum(bytes) as bytes
    from (
      select user_id,
             octet_length(sealed_request) + coalesce(octet_length(sealed_response), 0) + event_bytes as bytes
      from responses
      where organization_id = $1
      union all
      select user_id, bytes
      from response_contents
      where organization_id = $1
    ) one
    group by user_id
  ),
  noted as (
    select user_id, bytes
    from response_usage
    where organization_id = $1
  )
  select
    (
      select count(*)::int
      from kept
      full join noted using (user_id)
      where coalesce(kept.bytes, 0) <> coalesce(noted.bytes, 0)
    ) as response_usage_wrong,
    (
      select count(*)::int
      from response_contents content
      where content.organization_id = $1
        and not exists (select from responses where organization_id = $1 and id = content.id)
        and not exists (
          select
          from response_contents later
          where later.organization_id = $1
            and later.before_id = content.id
        )
    ) as response_contents_unneeded`;

/** Call it in a transaction of the organization that sees one moment. */
export async function countResponseFaults(sql: Sql, organizationId: string): Promise<ResponseFaultCounts> {
  const { rows } = await sql.query<ResponseFaultCounts>(COUNT, [organizationId]);
  return rows[0]!;
}
