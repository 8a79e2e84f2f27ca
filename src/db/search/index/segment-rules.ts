/** When segments are merged and purged: constants and SQL conditions that finding and doing it share. */

/** How many segments of a size are merged into one. A query reads a row of each for each term. */
export const MERGE_AT = 4;
/** Terms from which a segment is not merged any more: 13,000 chunks, so that merges take seconds. */
export const FINAL_TERMS = 2_000_000;
const SMALLEST_TIER_TERMS = 8_192;
const TIER_FACTOR = 4;
/** The share of hidden runs' postings from which a segment is purged: they cost every query. */
export const DEAD_SHARE = 0.1;

/** The tier of posting_segments `segment`: 0 below 32,768 terms, one more for each further factor of 4. */
export const TIER = `greatest(0, floor(
                ln(greatest(segment.terms, 1)::float8 / ${SMALLEST_TIER_TERMS}) / ln(${TIER_FACTOR})
              ))::int`;

/**
 * No document will publish the run of hidden_runs `hidden`. One that ended less than two minutes ago may
 * still be published by an activity that has not noticed. Shared by all purges.
 */
export const IS_NEVER_SERVED = `(
         hidden.reason = 'deleted'
         or not exists (select from pipeline_runs run where run.num = hidden.run_num)
         or exists (
           select
           from pipeline_runs run
           where run.num = hidden.run_num
             and run.status in ('completed', 'failed', 'cancelled')
             and run.completed_at < now() - interval '2 minutes'
         )
       )`;
/** No document that is not deleted shows the run of hidden_runs `hidden`. */
export const IS_NOT_PUBLISHED = `not exists (
         select
         from documents document
         where document.published_run_num = hidden.run_num
           and document.deleted_at is null
       )`;
