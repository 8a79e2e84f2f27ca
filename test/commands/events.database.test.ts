/** The events that commands write: which ones, with which data, and never a name or a text. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { createAgent } from "../../src/commands/agents/create-agent.ts";
import { deleteAgent } from "../../src/commands/agents/delete-agent.ts";
import { updateAgent } from "../../src/commands/agents/update-agent.ts";
import { startBatch } from "../../src/commands/batches/start-batch.ts";
import type { Caller } from "../../src/commands/caller.ts";
import { acceptFile } from "../../src/commands/documents/accept-file.ts";
import { acceptUpload } from "../../src/commands/documents/accept-upload.ts";
import { deleteDocument } from "../../src/commands/documents/delete-document.ts";
import { updateDocument } from "../../src/commands/documents/update-document.ts";
import { createPathFolder } from "../../src/commands/files/create-path-folder.ts";
import { deleteFile } from "../../src/commands/files/delete-file.ts";
import { renameFile } from "../../src/commands/files/rename-file.ts";
import { createFolder } from "../../src/commands/folders/create-folder.ts";
import { deleteFolder } from "../../src/commands/folders/delete-folder.ts";
import { updateFolder } from "../../src/commands/folders/update-folder.ts";
import { issueKey } from "../../src/commands/keys/issue-key.ts";
import { revokeKey } from "../../src/commands/keys/revoke-key.ts";
import { rollKey } from "../../src/commands/keys/roll-key.ts";
import { putMember } from "../../src/commands/members/put-member.ts";
import { removeMember } from "../../src/commands/members/remove-member.ts";
import { updateOrganization } from "../../src/commands/organizations/update-organization.ts";
import { createSpace } from "../../src/commands/spaces/create-space.ts";
import { deleteSpace } from "../../src/commands/spaces/delete-space.ts";
import { putSpaceMember } from "../../src/commands/spaces/put-space-member.ts";
import { removeSpaceMember } from "../../src/commands/spaces/remove-space-member.ts";
import { updateSpace } from "../../src/commands/spaces/update-space.ts";
import { takeDocuments } from "../../src/db/deletions/target.ts";
import type { EventRow } from "../../src/db/events/event-row.ts";
import { inTenant, type OrganizationRef } from "../../src/db/pool.ts";
import { newId } from "../../src/domain/ids.ts";
import { AgentCreate } from "../../src/schema/agent.ts";
import { localMasterKey } from "../../src/storage/keys/keyring.ts";
import { makeOrganization, makeSpace, makeUser } from "../support/tenants/callers.ts";
import { commandDatabase, documentParts, loggedIn, storedMarkdown } from "../support/tenants/commands.ts";
import { eventsOf, requireDescribedEvents } from "../support/tenants/events.ts";

/** Part of every name and text that a test gives. */
const SECRET = "quagga";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let adminId: string;
let memberId: string;
let admin: Caller;
let parts: ReturnType<typeof partsOf>;

const partsOf = () => ({
  ...documentParts(test.db),
  masterKey: localMasterKey(Buffer.alloc(32, 1)),
});

beforeEach(async () => {
  organization = await makeOrganization(test.db);
  adminId = await makeUser(test.db, organization, { role: "admin" });
  memberId = await makeUser(test.db, organization);
  spaceId = await makeSpace(test.db, organization, [[adminId, "owner"]]);
  admin = await loggedIn(test.db, organization, adminId);
  parts = partsOf();
});

afterEach(() => requireDescribedEvents(test.db, organization));

const stored = () => storedMarkdown(organization);
const unlessChanged = { ifMatch: undefined };

/** The organization's events as a list of type, resource and data. */
async function told(): Promise<[type: string, resource: string | null, data: EventRow["data"]][]> {
  const events = await eventsOf(test.db, organization);
  return events.map(({ type, resource, data }) => [type, resource.id, data]);
}

async function upload(folderId: string | null = null): Promise<string> {
  return (await acceptUpload(parts, admin, { spaceId, folderId, filename: `${SECRET}.md`, stored: stored() }))
    .id;
}

async function folder(name = SECRET): Promise<string> {
  return (await createFolder(parts, admin, { spaceId, name, parentFolderId: null })).id;
}

it("documents tell their file, their version and their folder, and who changed them", async () => {
  const [folderId, id] = [await folder(), await upload()];
  await updateDocument(parts, admin, { id, ...unlessChanged, metadata: { a: SECRET }, folderId });
  await updateDocument(parts, admin, { id, ...unlessChanged, metadata: {}, folderId });
  await deleteDocument(parts, admin, { id, ...unlessChanged });

  const file = { file_id: expect.any(String), file_type: "MARKDOWN", file_size: 5 };
  expect(await told()).toEqual([
    ["folder.created", folderId, {}],
    ["document.uploaded", id, { ...file, folder_id: null, version: 1 }],
    ["document.updated", id, {}],
    ["document.moved", id, { folder_id: folderId, previous_folder_id: null }],
    ["document.updated", id, {}],
    ["document.deleted", id, { folder_id: folderId }],
  ]);
  const [event] = await eventsOf(test.db, organization);
  expect(event).toMatchObject({
    space_id: spaceId,
    resource: { type: "folder" },
    actor: { type: "user", user_id: adminId, api_key_id: null },
    request_id: admin.requestId,
  });
  expect(event!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
});

it("files tell of their documents: the next version, the new name, the end of both", async () => {
  const path = `${SECRET}/a.md`;
  await acceptFile(parts, admin, { spaceId, path, stored: stored() });
  await acceptFile(parts, admin, { spaceId, path, stored: stored() });
  await renameFile(parts, admin, { spaceId, oldPath: path, newPath: `${SECRET}/b.md` });
  await renameFile(parts, admin, { spaceId, oldPath: `${SECRET}/`, newPath: `${SECRET}2/` });
  await deleteFile(parts, admin, { spaceId, path: `${SECRET}2/b.md`, ...unlessChanged });

  const events = await told();
  const [, documentId, { file_id: fileId }] = events[0]!;
  expect(events.map(([type, resource, data]) => [type, resource, data["version"] ?? data["count"]])).toEqual([
    ["document.uploaded", documentId, 1],
    ["document.cancelled", documentId, 1],
    ["document.uploaded", documentId, 2],
    ["file.renamed", fileId, undefined],
    ["document.updated", documentId, undefined],
    ["file.renamed", null, 1],
    ["document.deleted", documentId, undefined],
    ["file.deleted", fileId, undefined],
  ]);
});

it("a folder's deletion tells of each document in it, once they are hidden, in the name of who asked", async () => {
  const folderId = await folder();
  const id = await upload(folderId);
  await deleteFolder(parts, admin, { id: folderId, ...unlessChanged });
  const deletion = { id: await deletionOf(folderId), kind: "folder", target_id: folderId } as const;

  for (let step = 0; step < 2; step += 1)
    await inTenant(test.db, organization, (sql) => takeDocuments(sql, organization.num, deletion, 10));

  const events = await eventsOf(test.db, organization);
  expect(events.slice(2)).toMatchObject([
    { type: "folder.deleted", resource: { id: folderId } },
    {
      type: "document.deleted",
      resource: { id },
      actor: { type: "user", user_id: adminId },
      data: { folder_id: folderId, deleted_folder_id: folderId },
    },
  ]);
});

async function deletionOf(targetId: string): Promise<string> {
  const { rows } = await test.db.owner.query<{ id: string }>(
    "select id from deletions where target_id = $1",
    [targetId],
  );
  return rows[0]!.id;
}

it("a member who is removed takes the keys along", async () => {
  const member = await loggedIn(test.db, organization, memberId);
  const key = await issueKey(parts, member, newKey());

  await removeMember(parts, admin, { organizationId: organization.id, userId: memberId });

  const events = await told();
  expect(events).toEqual(expect.arrayContaining([["key.revoked", key.id, {}]]));
  expect(events.at(-1)).toEqual(["member.removed", memberId, {}]);
});

const newKey = () => ({
  member: null,
  name: SECRET,
  spaces: null,
  capabilities: null,
  expiresAt: null,
  allowedCidrs: null,
});

it("no event has a name or a text, whatever is changed", async () => {
  const { id: organizationId } = organization;
  const space = await createSpace(parts, admin, { name: SECRET });
  await updateSpace(parts, admin, { id: space.id, ...unlessChanged, name: `${SECRET} 2` });
  const added = { organizationId, userId: newId(), email: `${SECRET}@example.org`, name: SECRET } as const;
  for (const role of ["member", "admin"] as const) await putMember(parts, admin, { ...added, role });
  admin = await loggedIn(test.db, organization, adminId);
  for (const role of ["viewer", "editor"] as const)
    await putSpaceMember(parts, admin, { spaceId: space.id, userId: added.userId, role });
  await removeSpaceMember(parts, admin, { spaceId: space.id, userId: added.userId });
  const agent = AgentCreate.parse({ space_id: spaceId, name: SECRET, system_prompt: SECRET });
  const { id: agentId } = await createAgent(parts, admin, { spaceId, values: agent });
  await updateAgent(parts, admin, { id: agentId, ...unlessChanged, change: { name: `${SECRET} 2` } });
  await deleteAgent(parts, admin, { id: agentId, ...unlessChanged });
  const key = await issueKey(parts, admin, newKey());
  await rollKey(parts, admin, { id: key.id, asAdminOf: null, overlapSeconds: 0, expiresAt: null });
  await revokeKey(parts, admin, { id: key.id, asAdminOf: null });
  const lifetimes = { maxKeyLifetimeSeconds: 9_999_999, defaultKeyLifetimeSeconds: undefined };
  await updateOrganization(parts, admin, { id: organizationId, ...lifetimes });
  const [parentId, folderId] = [await folder(), await folder(`${SECRET} 2`)];
  const id = await upload(folderId);
  await updateFolder(parts, admin, {
    id: folderId,
    ...unlessChanged,
    name: SECRET,
    parentFolderId: parentId,
  });
  await startBatch(parts, admin, {
    documentIds: [id],
    filters: [],
    folderIds: null,
    chunkerName: null,
    chunkerConfig: null,
  });
  await createPathFolder(parts, admin, { spaceId, path: SECRET });
  await deleteFolder(parts, admin, { id: parentId, ...unlessChanged });
  await deleteSpace(parts, admin, { id: space.id, ...unlessChanged });

  const { rows } = await test.db.owner.query<{ type: string; all: string }>(
    `select type,
            to_jsonb(event)::text as all
     from events event
     where organization_id = $1
     order by num`,
    [organization.id],
  );
  expect(rows.map((row) => row.type)).toEqual([
    "space.created",
    "space.updated",
    "member.added",
    "member.updated",
    "space.member_added",
    "space.member_updated",
    "space.member_removed",
    "agent.created",
    "agent.updated",
    "agent.deleted",
    "key.created",
    "key.rolled",
    "key.revoked",
    "organization.updated",
    "folder.created",
    "folder.created",
    "document.uploaded",
    "folder.updated",
    "document.cancelled",
    "file.created",
    "folder.deleted",
    "space.deleted",
  ]);
  expect(rows.map((row) => row.all).join("\n")).not.toContain(SECRET);
});
