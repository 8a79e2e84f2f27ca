import { expect, it } from "vitest";
import { createStore } from "../../../src/commands/vector-stores/create-store.ts";
import { inTenant } from "../../../src/db/pool.ts";
import { readDirectory } from "../../../src/db/transfer/export.ts";
import { insertDirectory } from "../../../src/db/transfer/import.ts";
import { commandDatabase, documentParts, loggedIn, makeSharedSpace } from "../../support/tenants/commands.ts";

const test = commandDatabase();

it("an archive has what makes a folder a vector store, and an import writes it", async () => {
  const { organization, spaceId, editorId } = await makeSharedSpace(test.db, "editor");
  const editor = await loggedIn(test.db, organization, editorId);
  await createStore(documentParts(test.db), editor, {
    name: "Manuals / 2026",
    description: "Of all machines",
    metadata: { space_id: spaceId },
    chunking: { max_chunk_size_tokens: 200, chunk_overlap_tokens: 20 },
    expiresAfterDays: 7,
    files: [],
  });
  const read = async () =>
    (await test.db.owner.query("select * from vector_stores where organization_id = $1", [organization.id]))
      .rows;
  const before = await read();
  const directory = await inTenant(test.db, organization, (sql) => readDirectory(sql, organization.id));
  await test.db.owner.query("delete from vector_stores where organization_id = $1", [organization.id]);

  await inTenant(test.db, organization, (sql) => insertDirectory(sql, organization.id, directory));

  expect(await read()).toEqual(before);
  expect(before).toHaveLength(1);
});
