import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { createFolder } from "../../../src/commands/folders/create-folder.ts";
import { deleteFolder } from "../../../src/commands/folders/delete-folder.ts";
import { ensureFolders } from "../../../src/commands/folders/ensure-folders.ts";
import { updateFolder } from "../../../src/commands/folders/update-folder.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { makeSpace } from "../../support/tenants/callers.ts";
import {
  auditOf,
  commandDatabase,
  loggedIn,
  makeSharedSpace,
  refusedAtCommit,
  watchedParts,
  type WatchedParts,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let otherSpaceId: string;
let folderId: string;
let editor: Caller;
let viewer: Caller;
let parts: WatchedParts;

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "owner");
  ({ organization, spaceId } = shared);
  otherSpaceId = await makeSpace(test.db, organization, [[shared.editorId, "owner"]]);
  parts = watchedParts(test.db);
  const maker = await loggedIn(test.db, organization, shared.editorId);
  folderId = (await createFolder(parts, maker, { spaceId, name: "Reports", parentFolderId: null })).id;
  editor = await loggedIn(test.db, organization, shared.editorId);
  viewer = await loggedIn(test.db, organization, shared.viewerId);
});

/** A change of the folder that leaves it as it is. */
const unchanged = () => ({ id: folderId, ifMatch: undefined, name: undefined, parentFolderId: undefined });

async function written() {
  const { rows } = await test.db.owner.query(
    "select id, name, parent_folder_id, deleted_at from folders where organization_id = $1 order by id",
    [organization.id],
  );
  return rows;
}

const commands: [string, (caller: Caller) => Promise<unknown>][] = [
  [
    "a new folder",
    (caller) => createFolder(parts, caller, { spaceId, name: "2026", parentFolderId: folderId }),
  ],
  [
    "a folder of a path",
    (caller) => ensureFolders(parts, caller, { spaceId, paths: ["2027"], parentFolderId: folderId }),
  ],
  ["a new name", (caller) => updateFolder(parts, caller, { ...unchanged(), name: "New" })],
  ["a deletion", (caller) => deleteFolder(parts, caller, { id: folderId, ifMatch: undefined })],
];

describe.each(commands)("%s", (_, change) => {
  it("is refused to a viewer of the space, and nothing is written", async () => {
    const before = await written();

    await expect(change(viewer)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, viewer)).toEqual([]);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(editor);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
    expect(parts.dispatcher.wakeDeletions).not.toHaveBeenCalled();
  });

  it("has one audit row of its space", async () => {
    await change(editor);

    expect(await auditOf(test.db, editor)).toMatchObject([{ space_id: spaceId }]);
  });
});

it("a folder is neither made in nor moved to a folder of another space", async () => {
  const other = { spaceId: otherSpaceId, name: "Elsewhere", parentFolderId: null };
  const { id: elsewhere } = await createFolder(parts, editor, other);

  const creation = createFolder(parts, editor, { spaceId, name: "2026", parentFolderId: elsewhere });
  const move = updateFolder(parts, editor, {
    ...unchanged(),
    parentFolderId: elsewhere,
  });

  await expect(creation).rejects.toMatchObject({ code: "bad_request" });
  await expect(move).rejects.toMatchObject({ code: "bad_request" });
});
