import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { knowledgeScope } from "../../src/agents/reach.ts";
import type { Agent } from "../../src/db/turns/agents-in-chat.ts";
import { listKnownDocuments, readKnownDocument } from "../../src/db/documents/passages.ts";
import { type OrganizationRef, inTenant } from "../../src/db/pool.ts";
import { newId } from "../../src/domain/ids.ts";
import { makeOrganization, makeSpace, makeUser } from "../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";

const space = (id: string) => ({ id, num: 1, role: "viewer" as const, is_private: false });
const agent = (fields: Partial<Agent>): Agent =>
  ({ space_id: "own", data_access_mode: "origin", allowed_folder_ids: null, ...fields }) as Agent;
const organization = { id: "organization", num: 1 };
const idsOf = (given: Agent, reached: string[]) =>
  knowledgeScope(given, organization, reached.map(space)).spaces.map(({ id }) => id);

describe("the data of an agent", () => {
  it.each([
    ["origin: its own space", { data_access_mode: "origin" as const }, ["own", "other"], ["own"]],
    [
      "origin: nothing where the caller does not reach its space",
      { data_access_mode: "origin" as const },
      ["other"],
      [],
    ],
    [
      "caller: every space that the caller reaches",
      { data_access_mode: "caller" as const },
      ["own", "other"],
      ["own", "other"],
    ],
    ["none: nothing", { data_access_mode: "none" as const }, ["own", "other"], []],
    [
      "no folder allowed: nothing",
      { data_access_mode: "caller" as const, allowed_folder_ids: [] },
      ["own"],
      [],
    ],
  ])("%s", (_, fields, reached, expected) => {
    expect(idsOf(agent(fields), reached)).toEqual(expected);
  });
});

describe("what tools read of documents", () => {
  let database: TestDatabase;
  let owner: OrganizationRef;
  const ids = {
    space: "",
    other: "",
    folder: newId(),
    below: newId(),
    deleted: newId(),
    inFolder: newId(),
    inBelow: newId(),
    atRoot: newId(),
    inDeleted: newId(),
    elsewhere: newId(),
  };

  const addFolder = (id: string, parent: string | null, isDeleted = false) =>
    database.db.owner.query(
      `insert into folders (id, organization_id, space_id, parent_folder_id, name, deleted_at)
       values ($1, $2, $3, $4, 'folder', $5)`,
      [id, owner.id, ids.space, parent, isDeleted ? new Date() : null],
    );
  const addDocument = async (
    id: string,
    spaceId: string,
    folderId: string | null,
    userId: string,
    run: number,
  ) => {
    await database.db.owner.query(
      `insert into documents
         (id, organization_id, space_id, space_num, folder_id, name, file_type, file_size,
          content_type, created_by, published_run_num)
       select $1, $2, $3, num, $4, $5, 'MARKDOWN', 1, 'text/markdown', $6, $7
       from spaces
       where id = $3`,
      [id, owner.id, spaceId, folderId, `${id}.md`, userId, run],
    );
    for (const index of [0, 1, 2]) {
      await database.db.owner.query(
        `insert into chunks
           (organization_id, run_num, chunk_index, id, document_id, text, token_count,
            page_start, content_hash)
         values
           ($1, $2, $3, $4, $5, $6, 1, $7, '')`,
        [owner.id, run, index, newId(), id, `passage ${index}`, index + 1],
      );
    }
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    owner = await makeOrganization(database.db);
    const userId = await makeUser(database.db, owner);
    ids.space = await makeSpace(database.db, owner, [[userId, "owner"]]);
    ids.other = await makeSpace(database.db, owner, [[userId, "owner"]]);
    await addFolder(ids.folder, null);
    await addFolder(ids.below, ids.folder);
    await addFolder(ids.deleted, null, true);
    await addDocument(ids.atRoot, ids.space, null, userId, 9_001);
    await addDocument(ids.inFolder, ids.space, ids.folder, userId, 9_002);
    await addDocument(ids.inBelow, ids.space, ids.below, userId, 9_003);
    await addDocument(ids.inDeleted, ids.space, ids.deleted, userId, 9_004);
    await addDocument(ids.elsewhere, ids.other, null, userId, 9_005);
  });
  afterAll(() => database.drop());

  const listed = async (folderIds: string[] | null) => {
    const rows = await inTenant(database.db, owner, (sql) =>
      listKnownDocuments(
        sql,
        { spaceIds: [ids.space], folderIds },
        { nameContains: null, limit: 50, offset: 0 },
      ),
    );
    return rows.map(({ id }) => id).toSorted();
  };
  const read = (documentId: string, folderIds: string[] | null = null, fromChunk = 0) =>
    inTenant(database.db, owner, (sql) =>
      readKnownDocument(sql, { spaceIds: [ids.space], folderIds }, documentId, { fromChunk, limit: 2 }),
    );

  it("is the live documents of the spaces, and of the allowed folders with all below", async () => {
    expect(await listed(null)).toEqual([ids.atRoot, ids.inFolder, ids.inBelow].toSorted());
    expect(await listed([ids.folder])).toEqual([ids.inFolder, ids.inBelow].toSorted());
    expect(await listed([ids.below])).toEqual([ids.inBelow]);
    expect(await listed([ids.deleted])).toEqual([]);
  });

  it("gives consecutive passages of such a document, and none of another", async () => {
    expect(await read(ids.inBelow, [ids.folder], 1)).toMatchObject({
      name: `${ids.inBelow}.md`,
      chunk_count: 3,
      passages: [
        { document_id: ids.inBelow, chunk_index: 1, page: 2, text: "passage 1" },
        { chunk_index: 2 },
      ],
    });
    expect(await read(ids.atRoot, [ids.folder])).toBeUndefined();
    expect(await read(ids.inDeleted)).toBeUndefined();
    expect(await read(ids.elsewhere)).toBeUndefined();
  });
});
