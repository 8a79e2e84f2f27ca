/**
 * Queries that find changes without their event, and what is wrong with the log and its deliveries; each
 * returns one row for each fault. Changes count from the first event on: before it, another version ran.
 */
export const FAULTY_EVENTS: Readonly<Record<string, string>> = {
  "an event has no position": `
    select id
    from events
    where position is null`,
  "the log of an organization has gaps": `
    select log.organization_id
    from event_positions log
    left join (
      select organization_id, count(position) as count, max(position) as last
      from events
      group by organization_id
    ) found on found.organization_id = log.organization_id
    where (coalesce(found.count, 0), coalesce(found.last, log.expired_position))
      is distinct from (log.last_position - log.expired_position, log.last_position)`,
  "a document was accepted without an event, or with two": `
    select document.id
    from documents document
    join organizations organization on organization.id = document.organization_id
    cross join lateral (
      -- Processes of 0.6.0 tell no version.
      select count(*) as total,
             count(*) filter (where coalesce(event.data ->> 'version', '1') = '1') as first,
             count(distinct coalesce(event.data ->> 'version', '1')) as versions
      from events event
      where event.type = 'document.uploaded'
        and event.resource_id = document.id
    ) uploaded
    where document.created_at > (select min(occurred_at) from events)
      -- Those that came with an imported organization are older than it, and its log begins without them.
      and document.created_at >= organization.created_at
      and (uploaded.first <> 1 or uploaded.total <> uploaded.versions)`,
  "a run has ended without an event, or with two": `
    select run.id
    from pipeline_runs run
    join documents document on document.id = run.document_id and document.deleted_at is null
    where run.status in ('completed', 'failed', 'cancelled')
      and run.completed_at > (select min(occurred_at) from events)
      and 1 <> (
        select count(*)
        from events event
        where event.type = 'document.' || run.status
          and event.resource_id = run.document_id
          and event.data ->> 'run_id' = run.id::text)`,
  "a document was deleted without an event, or with two": `
    select deletion.target_id
    from deletions deletion
    where deletion.kind = 'document'
      and deletion.created_at > (select min(occurred_at) from events)
      and 1 <> (
        select count(*)
        from events event
        where event.type = 'document.deleted'
          and event.resource_id = deletion.target_id)`,
  "a batch has ended without an event, or with two": `
    select batch.id
    from batches batch
    where batch.completed_at > (select min(occurred_at) from events)
      and 1 <> (
        select count(*)
        from events event
        where event.type = 'batch.completed'
          and event.resource_id = batch.id)`,
  // A turn that was taken for lost may end again, as it did in truth.
  "a chat turn has ended without an event": `
    select turn.id
    from turns turn
    where turn.ended_at > (select min(occurred_at) from events)
      and not exists (
        select
        from events event
        where event.type in ('turn.completed', 'turn.failed')
          and event.resource_id = turn.id)`,
  "a delivery has not been made": `
    select id
    from webhook_deliveries
    where status <> 'delivered'`,
  "an endpoint is not at the end of the log, or not active": `
    select webhook.id
    from webhooks webhook
    join event_positions log on log.organization_id = webhook.organization_id
    where webhook.position < log.last_position
      or webhook.status <> 'active'`,
};
