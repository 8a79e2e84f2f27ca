import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { createPathFolder } from "../../../src/commands/files/create-path-folder.ts";
import { deleteFile } from "../../../src/commands/files/delete-file.ts";
import { renameFile } from "../../../src/commands/files/rename-file.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
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
let fileId: string;
let editor: Caller;
let viewer: Caller;
let parts: WatchedParts;

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "owner");
  ({ organization, spaceId } = shared);
  fileId = await makeFile("reports/2026.md");
  editor = await loggedIn(test.db, organization, shared.editorId);
  viewer = await loggedIn(test.db, organization, shared.viewerId);
  parts = watchedParts(test.db);
});

/** A file without a document, as one whose document was deleted. */
async function makeFile(path: string): Promise<string> {
  const id = newId();
  await test.db.owner.query(
    `insert into raw_files (id, organization_id, space_id, path, size, content_type, sha256, object_key)
     values ($1, $2, $3, $4, 1, 'text/markdown', '00', $5)`,
    [id, organization.id, spaceId, path, `${organization.id}/${id}`],
  );
  return id;
}

async function written() {
  const { rows } = await test.db.owner.query(
    "select id, path, deleted_at from raw_files where space_id = $1 order by id",
    [spaceId],
  );
  return rows;
}

const commands: [string, (caller: Caller) => Promise<unknown>][] = [
  [
    "a new path of a file",
    (caller) => renameFile(parts, caller, { spaceId, oldPath: "reports/2026.md", newPath: "2026.md" }),
  ],
  [
    "a new path of all below a prefix",
    (caller) => renameFile(parts, caller, { spaceId, oldPath: "reports/", newPath: "archive/" }),
  ],
  [
    "a deletion",
    (caller) => deleteFile(parts, caller, { spaceId, path: "reports/2026.md", ifMatch: undefined }),
  ],
  ["a path folder", (caller) => createPathFolder(parts, caller, { spaceId, path: "plans" })],
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
});

it("the audit row names the file that was moved, and none for a prefix", async () => {
  await renameFile(parts, editor, { spaceId, oldPath: "reports/2026.md", newPath: "reports/2027.md" });
  await renameFile(parts, editor, { spaceId, oldPath: "reports/", newPath: "archive/" });

  expect(await auditOf(test.db, editor)).toEqual([
    { action: "files:rename", resource_id: fileId, space_id: spaceId },
    { action: "files:rename", resource_id: null, space_id: spaceId },
  ]);
  expect(await written()).toMatchObject([{ path: "archive/2027.md" }]);
});

it("a move to a path that is taken moves nothing", async () => {
  await makeFile("archive/2026.md");
  const before = await written();

  const move = renameFile(parts, editor, { spaceId, oldPath: "reports/", newPath: "archive/" });

  await expect(move).rejects.toMatchObject({ code: "bad_request" });
  expect(await written()).toEqual(before);
});

it("a deletion is started at once", async () => {
  await deleteFile(parts, editor, { spaceId, path: "reports/2026.md", ifMatch: undefined });

  expect(parts.dispatcher.wakeDeletions).toHaveBeenCalledExactlyOnceWith(organization.id);
});

it("a path folder that exists is answered in the same way, without a second audit row", async () => {
  const make = () => createPathFolder(parts, editor, { spaceId, path: "plans" });

  const answers = [await make(), await make()];

  expect(answers).toEqual([{ path: "plans" }, { path: "plans" }]);
  expect(await auditOf(test.db, editor)).toMatchObject([{ action: "files:create" }]);
});

it("a path folder with something in it is not deleted", async () => {
  await createPathFolder(parts, editor, { spaceId, path: "reports" });

  const deletion = deleteFile(parts, editor, { spaceId, path: "reports", ifMatch: undefined });

  await expect(deletion).rejects.toMatchObject({ code: "bad_request", message: "The folder is not empty." });
});
