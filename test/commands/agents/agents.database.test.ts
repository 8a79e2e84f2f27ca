import { beforeEach, describe, expect, it } from "vitest";
import { createAgent } from "../../../src/commands/agents/create-agent.ts";
import { deleteAgent } from "../../../src/commands/agents/delete-agent.ts";
import { updateAgent } from "../../../src/commands/agents/update-agent.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { AgentCreate } from "../../../src/schema/agent.ts";
import {
  auditOf,
  commandDatabase,
  loggedIn,
  makeSharedSpace,
  refusedAtCommit,
  withKey,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let agentId: string;
let editor: Caller;
let viewer: Caller;

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "owner");
  ({ organization, spaceId } = shared);
  const maker = await loggedIn(test.db, organization, shared.editorId);
  agentId = (await createAgent(test, maker, newAgent("Analyst"))).id;
  editor = await loggedIn(test.db, organization, shared.editorId);
  viewer = await loggedIn(test.db, organization, shared.viewerId);
});

function newAgent(name: string) {
  const { space_id: _, ...values } = AgentCreate.parse({ name, space_id: spaceId });
  return { spaceId, values };
}

async function written() {
  const { rows } = await test.db.owner.query(
    "select id, name, version, deleted_at from agents where organization_id = $1 order by id",
    [organization.id],
  );
  return rows;
}

const commands: [string, (caller: Caller) => Promise<unknown>][] = [
  ["a new agent", (caller) => createAgent(test, caller, newAgent("Librarian"))],
  [
    "a changed agent",
    (caller) => updateAgent(test, caller, { id: agentId, ifMatch: undefined, change: { name: "Reader" } }),
  ],
  ["a deletion", (caller) => deleteAgent(test, caller, { id: agentId, ifMatch: undefined })],
];

describe.each(commands)("%s", (_, change) => {
  it("is refused to a viewer of the space, and nothing is written", async () => {
    const before = await written();

    await expect(change(viewer)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, viewer)).toEqual([]);
  });

  it("is refused to a key, whoever has it", async () => {
    const before = await written();

    await expect(change(withKey(editor))).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(editor);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
  });

  it("has one audit row of its space", async () => {
    await change(editor);

    expect(await auditOf(test.db, editor)).toMatchObject([{ space_id: spaceId }]);
  });
});

it("a change to what an agent is already raises no version and writes no audit row", async () => {
  const same = { id: agentId, ifMatch: undefined, change: { name: "Analyst" } };

  const agent = await updateAgent(test, editor, same);

  expect(agent.version).toBe("1.0.0");
  expect(await auditOf(test.db, editor)).toEqual([]);
});

it("an agent is not narrowed to a folder that its editor does not reach", async () => {
  const change = { allowed_folder_ids: [newId()] };

  const update = updateAgent(test, editor, { id: agentId, ifMatch: undefined, change });

  await expect(update).rejects.toMatchObject({ code: "not_found", message: "Folder not found" });
});

it("an agent that has changed since it was read is neither changed nor deleted", async () => {
  const stale = { id: agentId, ifMatch: '"read-before"' };
  const before = await written();

  await expect(updateAgent(test, editor, { ...stale, change: { name: "Reader" } })).rejects.toMatchObject({
    code: "precondition_failed",
  });
  await expect(deleteAgent(test, editor, stale)).rejects.toMatchObject({ code: "precondition_failed" });

  expect(await written()).toEqual(before);
});
