import { afterAll, beforeAll, expect, test } from "vitest";
import { insertDirectory } from "../../../src/db/transfer/import.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("an agent of an archive from before 0.9.0 requires no support; one that does goes on", async () => {
  const organization = await makeOrganization(database.db);
  const userId = await makeUser(database.db, organization);
  const spaceId = await makeSpace(database.db, organization, [[userId, "owner"]]);
  const agent = (name: string, rest: Record<string, unknown> = {}) => ({
    id: newId(),
    space_id: spaceId,
    name,
    description: "",
    version: "1.0.0",
    agent_type: "rag",
    model: "default",
    system_prompt: "",
    tool_attachments: [],
    is_public: false,
    show_citations: true,
    save_to_inbox: false,
    data_access_mode: "origin",
    from_system: false,
    conversation_count: 0,
    created_by: userId,
    last_edited_by: userId,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    ...rest,
  });
  const { owner } = database.db;
  const { rows: users } = await owner.query("select * from users where id = $1", [userId]);
  await insertDirectory(owner, organization.id, {
    organization: { name: "Acme" } as never,
    users,
    spaces: [],
    space_members: [],
    folders: [],
    agents: [agent("Old"), agent("New", { require_support: true })],
  });
  const { rows } = await owner.query(
    "select name, require_support from agents where space_id = $1 order by name",
    [spaceId],
  );
  expect(rows).toEqual([
    { name: "New", require_support: true },
    { name: "Old", require_support: false },
  ]);
});
