/** What a stored response may cost others: long conversations, many events, and many responses that wait. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { repeat } from "../../../../src/api/openai/responses/repeat.ts";
import { sealEvents } from "../../../../src/api/openai/responses/sealed.ts";
import { allEvents, eventsAfter } from "../../../../src/api/openai/responses/store.ts";
import { inTenant } from "../../../../src/db/pool.ts";
import { MAX_CONVERSATION_RESPONSES } from "../../../../src/db/responses/conversations.ts";
import { addResponseEvents } from "../../../../src/db/responses/events.ts";
import { takeOrphans } from "../../../../src/db/responses/orphans.ts";
import { deleteResponse } from "../../../../src/db/responses/responses.ts";
import { deleteExpired } from "../../../../src/db/upkeep/retention.ts";
import { DomainError } from "../../../../src/domain/errors.ts";
import { newId } from "../../../../src/domain/ids.ts";
import type { ResponseBody } from "../../../../src/schema/openai/response-request.ts";
import { type KeptResponses, keptResponses } from "../../../support/responses/kept-responses.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Puts a chain of contents before those of a response. */
async function lengthen(kept: KeptResponses, id: string, responses: number): Promise<void> {
  const { owner } = database.db;
  await owner.query(
    `with chain as (
       select gen_random_uuid() as id, place
       from generate_series(1, $3) place
     ),
     linked as (
       select id, lag(id) over (order by place) as before_id, place
       from chain
     ),
     written as (
       insert into response_contents (
         organization_id, id, user_id, before_id, bytes, text_characters, image_characters
       )
       select $1, id, $2, before_id, 1, 1, 0
       from linked
       order by place
     )
     update response_contents
     set before_id = (select id from linked order by place desc limit 1)
     where organization_id = $1
       and id = $4`,
    [kept.organization.id, kept.principal.user.id, responses, id],
  );
}

it("a conversation has at most a thousand responses, also if the oldest items may be left out", async () => {
  const kept = await keptResponses(database);
  const { id } = await kept.keep({ asked: ["1"], answered: ["one"] });
  await lengthen(kept, id, MAX_CONVERSATION_RESPONSES - 2);
  const last = await kept.keep({ asked: ["2"], answered: ["two"], previousId: id });

  for (const mayTruncate of [false, true])
    await expect(kept.before(last.id, { mayTruncate })).rejects.toMatchObject({
      reason: "context_length_exceeded",
      param: "previous_response_id",
    });
  for (const one of [id, last.id])
    await inTenant(database.db, kept.organization, (sql) => deleteResponse(sql, kept.principal.user.id, one));
  expect(await kept.bytesOf(kept.principal.user.id)).toBe(0);
});

it("events are read a mebibyte at a time, each of them once", async () => {
  const kept = await keptResponses(database);
  const { id } = await kept.keep({ asked: ["1"], answered: ["one"] });
  const fence = { organization: kept.organization, id, attempt: 1 };
  await database.db.owner.query("update responses set status = 'in_progress' where id = $1", [id]);
  const event = (no: number) =>
    JSON.stringify({ type: "response.output_text.delta", sequence_number: no, delta: "x".repeat(400_000) });
  for (let no = 0; no < 6; no += 1) {
    const events = await sealEvents(kept.deps, fence, no, [event(no)]);
    expect(await addResponseEvents(database.db, fence, events, null)).toBe(true);
  }

  const first = await eventsAfter(kept.deps, kept.organization, id, -1);
  const numbers = first.events.map(({ event: { sequence_number: no } }) => no);
  expect([numbers, first.mayHaveMore]).toEqual([[0, 1, 2], true]);
  const all = await allEvents(kept.deps, kept.organization, id);
  expect(all.map(({ sequence_number: no }) => no)).toEqual([0, 1, 2, 3, 4, 5]);
});

it("a repeat takes a seat only if it has to wait", async () => {
  const kept = await keptResponses(database);
  const tooMany = new DomainError("rate_limited", "No seat is left.");
  const repeated = (id: string) =>
    repeat(
      kept,
      kept.principal,
      {
        body: {} as ResponseBody,
        signal: new AbortController().signal,
        lookUp: async () => kept.principal,
        takeSeat() {
          throw tooMany;
        },
      },
      id,
    );
  const { id } = await kept.keep({
    asked: ["1"],
    answered: ["one"],
    async beforeEnd() {
      const { rows } = await database.db.owner.query<{ id: string }>(
        `with begun as (
           select id, api_process_id from responses where organization_id = $1
         ),
         alive as (
           insert into api_processes (id) select api_process_id from begun
         )
         select id from begun`,
        [kept.organization.id],
      );
      await expect(repeated(rows[0]!.id)).rejects.toBe(tooMany);
    },
  });
  await expect(repeated(id)).resolves.toMatchObject({ status: "completed" });
});

it("background responses that wait are taken up from each organization in turn", async () => {
  const [many, few] = [await keptResponses(database), await keptResponses(database)];
  for (let at = 0; at < 4; at += 1) await many.keep({ asked: ["1"] });
  await few.keep({ asked: ["1"] });
  await database.db.owner.query(
    `update responses
     set is_background = true, status = 'queued', sealed_response = null, waiting_for = 'provider_unavailable'
     where organization_id = any($1)`,
    [[many.organization.id, few.organization.id]],
  );

  const taken = await takeOrphans(database.db, newId(), [], 2);
  expect(new Set(taken.map((row) => row.organization_id))).toEqual(
    new Set([many.organization.id, few.organization.id]),
  );
  // Until the provider answers.
  expect(taken.map((row) => row.waiting_for)).toEqual(["provider_unavailable", "provider_unavailable"]);
});

it("rows of a table that cannot be deleted keep none of another table from it", async () => {
  const { owner } = database.db;
  const kept = await keptResponses(database);
  await kept.keep({ asked: ["1"] });
  await owner.query("update responses set expires_at = now() - interval '1 s' where organization_id = $1", [
    kept.organization.id,
  ]);
  await owner.query("insert into rate_limits (caller, minute, count) values ('old', 1, 1)");
  await owner.query(`create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'not now'; end $$`);
  await owner.query(
    "create trigger refuse before delete on responses for each statement execute function refuse()",
  );

  const { errors } = await deleteExpired(database.db);
  expect(errors).toEqual([expect.objectContaining({ message: "not now" })]);
  const { rowCount } = await owner.query("select from rate_limits where caller = 'old'");
  expect(rowCount).toBe(0);
});
