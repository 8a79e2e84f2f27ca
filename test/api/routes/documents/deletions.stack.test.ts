/** What a deletion takes along is what was said before. */
import { expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { ended, upload } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;

/** A space with one document at the root, one in a folder, and one in a folder below that. */
async function makeSpace() {
  const { body: space } = await people.as("ada", "POST", "/spaces", { name: newId() });
  const folder = async (name: string, parent: string | null): Promise<string> =>
    (await people.as("ada", "POST", "/folders", { name, space_id: space.id, parent_folder_id: parent })).body
      .id;
  const outer = await folder("outer", null);
  const inner = await folder("inner", outer);
  const documents = [];
  for (const [name, place] of [
    ["root.md", null],
    ["outer.md", outer],
    ["inner.md", inner],
  ] as const) {
    const text = `# ${name}\n\nSome words about ${name}.\n`;
    const { id } = await upload(stack.url, tenants.keys.owner, space.id, text, name);
    await ended(stack.url, tenants.keys.owner, id);
    if (place !== null) await people.as("ada", "PATCH", `/data/${id}`, { folder_id: place });
    documents.push({ id, size: text.length });
  }
  return { id: space.id as string, outer, inner, documents };
}

const total = async (spaceId: string): Promise<number> =>
  (await people.as("ada", "POST", "/data/search", { filters: { space_id: spaceId } })).body.total_items;

test("a folder takes along all that is below it, and nothing beside it", async () => {
  const space = await makeSpace();
  const [, outer, inner] = space.documents;
  const { body: said } = await people.as("ada", "GET", `/folders/${space.outer}/deletion`);
  expect(said).toMatchObject({
    documents: 2,
    folders: 2,
    versions: 2,
    bytes: outer!.size + inner!.size,
    runs_under_way: 0,
    agents: 0,
  });
  expect(said.chunks).toBeGreaterThanOrEqual(2);
  const before = await total(space.id);
  expect((await people.as("ada", "DELETE", `/folders/${space.outer}`)).status).toBe(204);
  await until("the documents are gone", async () => (await total(space.id)) === before - said.documents);
  const { body: again } = await people.as("ada", "GET", `/folders/${space.outer}/deletion`);
  expect(again.error.code).toBe("folder_not_found");
});

test("a space takes along its documents, folders, agents, members and keys", async () => {
  const space = await makeSpace();
  await people.as("ada", "PUT", `/spaces/${space.id}/members/${people.ids.vic}`, { role: "viewer" });
  await people.as("ada", "POST", "/agents", { name: "Counter", space_id: space.id });
  await people.as("ada", "POST", "/me/api-keys", { name: "only here", spaces: [space.id] });
  expect((await people.as("ada", "GET", `/spaces/${space.id}/deletion`)).body).toMatchObject({
    documents: 3,
    files: 3,
    folders: 2,
    agents: 1,
    members: 2,
    api_keys: 1,
    webhooks: 0,
  });
  expect((await people.as("vic", "GET", `/spaces/${space.id}/deletion`)).status).toBe(403);
  expect((await people.as("vic", "GET", `/data/${space.documents[0]!.id}/deletion`)).status).toBe(403);
});

test("a document takes along its versions", async () => {
  const space = await makeSpace();
  const [{ id, size }] = space.documents as [{ id: string; size: number }];
  await people.as("ada", "POST", `/data/${id}/reprocess`);
  expect((await people.as("ada", "GET", `/data/${id}/deletion`)).body).toMatchObject({
    documents: 1,
    bytes: size,
    versions: 2,
    folders: 0,
    files: 0,
  });
});

test("a space's count leaves out what went with a deleted folder, purged or not", async () => {
  const space = await makeSpace();
  // A deletion whose purge has not begun: the folders are marked, and what is in them is not.
  await stack.database.db.owner.query("update folders set deleted_at = now() where space_id = $1", [
    space.id,
  ]);
  const [root] = space.documents;
  expect((await people.as("ada", "GET", `/spaces/${space.id}/deletion`)).body).toMatchObject({
    documents: 1,
    files: 1,
    folders: 0,
    versions: 1,
    bytes: root!.size,
  });
});

test("a member takes along keys, webhooks and roles, and the spaces that nobody else owns", async () => {
  const at = `/organizations/${tenants.acme}/members/${people.ids.eve}`;
  const before = (await people.as("ada", "GET", `${at}/deletion`)).body;
  const { body: space } = await people.as("eve", "POST", "/spaces", { name: newId() });
  const { body: shared } = await people.as("eve", "POST", "/spaces", { name: newId() });
  await people.as("eve", "PUT", `/spaces/${shared.id}/members/${people.ids.ada}`, { role: "owner" });
  const { body: key } = await people.as("eve", "POST", "/me/api-keys", { name: "counted" });
  const { body: revoked } = await people.as("eve", "POST", "/me/api-keys", { name: "not counted" });
  await people.as("eve", "DELETE", `/me/api-keys/${revoked.id}`);
  await people.as("eve", "POST", "/webhooks", { url: "https://receiver.invalid/", space_id: space.id });
  expect(key.id).toEqual(expect.any(String));
  // One turn that runs, and one whose process must be gone by now.
  await stack.database.db.owner.query(
    `insert into turns (id, organization_id, space_id, agent_id, user_id, api_process_id,
                        starts_conversation, started_at, status)
     select gen_random_uuid(), $1, $2, $3, $4, gen_random_uuid(), true, now() - ago, 'open'
     from unnest(array['1 minute', '2 hours']::interval[]) as ago`,
    [tenants.acme, tenants.spaces.research, tenants.agents.librarian, people.ids.eve],
  );
  expect((await people.as("ada", "GET", `${at}/deletion`)).body).toEqual({
    ...before,
    api_keys: before.api_keys + 1,
    webhooks: before.webhooks + 1,
    members: before.members + 2,
    spaces: before.spaces + 1,
    turns_under_way: before.turns_under_way + 1,
  });
  expect((await people.as("eve", "GET", `${at}/deletion`)).status).toBe(403);
});

test("an agent takes along nothing but itself", async () => {
  const { body: agent } = await people.as("ada", "POST", "/agents", {
    name: "Alone",
    space_id: tenants.spaces.research,
  });
  const { body } = await people.as("ada", "GET", `/agents/${agent.id}/deletion`);
  expect(Object.entries(body).filter(([, count]) => count !== 0)).toEqual([["agents", 1]]);
  expect((await people.as("vic", "GET", `/agents/${agent.id}/deletion`)).status).toBe(403);
});
