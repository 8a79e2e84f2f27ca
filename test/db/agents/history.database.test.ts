/** The history of an agent, which a trigger notes from what any process writes. */
import { expect, it } from "vitest";
import { listAgentChanges } from "../../../src/db/agents/history.ts";
import { inTenant } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { commandDatabase, loggedIn, makeSharedSpace } from "../../support/tenants/commands.ts";

const test = commandDatabase();

it("an agent's history says who changed what, keeps 1,000 entries, and is for its space alone", async () => {
  const { organization, spaceId, editorId } = await makeSharedSpace(test.db, "editor");
  const { principal } = await loggedIn(test.db, organization, editorId);
  const id = newId();
  await test.db.owner.query(
    `insert into agents (id, organization_id, space_id, name, created_by, last_edited_by)
     values ($1, $2, $3, 'Guide', $4, $4)`,
    [id, organization.id, spaceId, editorId],
  );
  const set = (assignments: string) =>
    test.db.owner.query(`update agents set ${assignments} where id = $1`, [id]);
  const history = (reader = principal) =>
    inTenant(test.db, organization, (sql) => listAgentChanges(sql, reader, id, { page: 1, limit: 10 }));
  await set("version = '1.0.1', temperature = 0.5, system_prompt = 'Answer briefly.'");
  await set("conversation_count = conversation_count + 1");

  const { items, total } = await history();
  expect(total).toBe(2);
  expect(items).toMatchObject([
    {
      version: "1.0.1",
      by: { id: editorId },
      action: "updated",
      changes: [
        { field: "system_prompt", before: "", after: "Answer briefly." },
        { field: "temperature", before: null, after: 0.5 },
      ],
    },
    { version: "1.0.0", action: "created", changes: [] },
  ]);
  expect((await history({ ...principal, reach: new Map() })).items).toEqual([]);

  await test.db.owner.query(
    `do $$ begin for n in 1..1005 loop
       update agents set max_tokens = n where id = '${id}';
     end loop; end $$`,
  );
  expect((await history()).total).toBe(1_000);
});
