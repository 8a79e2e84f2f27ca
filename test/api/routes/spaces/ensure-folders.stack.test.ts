/** Folders of paths: made on the way, and never twice. */
import { expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";

const people = signedIn();

const makeSpace = async (): Promise<string> =>
  (await people.as("ada", "POST", "/spaces", { name: newId() })).body.id;
const ensure = (space_id: string, paths: readonly unknown[], more: object = {}) =>
  people.as("ada", "POST", "/folders/ensure", { space_id, paths, ...more });
const foldersOf = async (
  space: string,
): Promise<{ id: string; name: string; parent_folder_id: string | null }[]> =>
  (await people.as("ada", "GET", `/folders/space/${space}?limit=1000`)).body.items;

test("folders of paths are made with those on the way, and found when asked again", async () => {
  const space = await makeSpace();
  const { status, body } = await ensure(space, ["a/b/c", "a/d", "a", "a/d"]);
  expect(status).toBe(200);
  expect(body.folders.map((one: { path: string; created: boolean }) => [one.path, one.created])).toEqual([
    ["a/b/c", true],
    ["a/d", true],
    ["a", true],
  ]);
  const made = await foldersOf(space);
  const byName = Object.fromEntries(made.map((one) => [one.name, one]));
  expect(made).toHaveLength(4);
  expect(byName["c"]!.parent_folder_id).toBe(byName["b"]!.id);
  expect(byName["b"]!.parent_folder_id).toBe(byName["a"]!.id);
  expect(byName["a"]!.parent_folder_id).toBeNull();
  expect(body.folders[0].id).toBe(byName["c"]!.id);
  expect(await people.audited("folders:create", byName["b"]!.id)).toMatchObject([{ space_id: space }]);
  const again = await ensure(space, ["a/b/c", "a/b/e"]);
  expect(again.body.folders).toEqual([
    { path: "a/b/c", id: byName["c"]!.id, created: false },
    { path: "a/b/e", id: expect.any(String), created: true },
  ]);
});

test("many at once make each folder once", async () => {
  const space = await makeSpace();
  const paths = ["x/y/z", "x/w"];
  const answers = await Promise.all(Array.from({ length: 8 }, () => ensure(space, paths)));
  expect(new Set(answers.map(({ body }) => body.folders[0].id)).size).toBe(1);
  expect(answers.filter(({ body }) => body.folders[1].created)).toHaveLength(1);
  expect((await foldersOf(space)).map(({ name }) => name).toSorted()).toEqual(["w", "x", "y", "z"]);
});

test("paths begin in the parent; a deleted folder is made anew", async () => {
  const space = await makeSpace();
  const [parent] = (await ensure(space, ["top"])).body.folders;
  const [first] = (await ensure(space, ["in"], { parent_id: parent.id })).body.folders;
  expect((await foldersOf(space)).find(({ id }) => id === first.id)!.parent_folder_id).toBe(parent.id);
  await people.as("ada", "DELETE", `/folders/${first.id}`);
  const [second] = (await ensure(space, ["in"], { parent_id: parent.id })).body.folders;
  expect([second.created, second.id === first.id]).toEqual([true, false]);
  const elsewhere = await ensure(await makeSpace(), ["in"], { parent_id: parent.id });
  expect(elsewhere.body.error.code).toBe("wrong_space");
  expect((await ensure(space, ["in"], { parent_id: newId() })).body.error.code).toBe("folder_not_found");
});

test("a thousand paths are taken, and what is no path is refused at its place", async () => {
  const space = await makeSpace();
  const many = Array.from({ length: 1_000 }, (_, at) => `wide/${at}`);
  expect((await ensure(space, many)).body.folders).toHaveLength(1_000);
  expect((await ensure(space, [...many, "more"])).status).toBe(422);
  for (const path of ["", "/a", "a/", "a//b", "a/ /b", "x".repeat(256), "a/".repeat(32) + "a", 7]) {
    const { status, body } = await ensure(space, ["fine", path]);
    expect([path, status, body.detail[0].loc]).toEqual([path, 422, ["body", "paths", 1]]);
  }
  expect((await foldersOf(space)).some(({ name }) => name === "fine")).toBe(false);
});

test("only those who write in the space make folders, and others do not see that it exists", async () => {
  const space = await makeSpace();
  const tried = (who: "vic" | "eve") =>
    people.as(who, "POST", "/folders/ensure", { space_id: space, paths: ["a"] });
  await people.as("ada", "PUT", `/spaces/${space}/members/${people.ids.vic}`, { role: "viewer" });
  expect([(await tried("vic")).status, (await tried("eve")).status]).toEqual([403, 404]);
});
