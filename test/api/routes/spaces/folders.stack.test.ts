/** Folders on the real stack: how they are made and read. */
import { describe, expect, test } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { folderClient } from "../../../support/clients/folder-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
const { request, make, put } = folderClient({ stack, tenants });
const UNKNOWN = "01900000-0000-7000-8000-0000000000ff";

describe("making a folder", () => {
  test("answers with the folder, at the root or in another", async () => {
    const outer = await make("Outer");
    expect(outer).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "Outer",
      parent_folder_id: null,
      org_id: tenants.acme,
      home_space_id: tenants.spaces.research,
      from_system: false,
      created_by: { id: expect.any(String), name: "Ada Owner", avatar_url: null },
    });
    const inner = await make("Inner", outer.id);
    expect(inner.parent_folder_id).toBe(outer.id);
    expect((await request("GET", `/folders/${inner.id}`)).body).toEqual(inner);
    expect((await make("Outer", null)).id).not.toBe(outer.id);
  });

  test("needs a space even when nesting, and a name without a slash", async () => {
    const outer = await make("Outer");
    const { status, body } = await request("POST", "/folders", { name: "x", parent_folder_id: outer.id });
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([
      { loc: ["body", "space_id"], msg: "Field required", type: "missing" },
    ]);
    for (const name of ["", "a/b", " ", "n".repeat(256)])
      expect((await request("POST", "/folders", { name, space_id: tenants.spaces.research })).status).toBe(
        422,
      );
    await make("n".repeat(255));
  });

  test("is 403 for a viewer, and 404 in a space out of reach", async () => {
    const body = { name: "x", space_id: tenants.spaces.research };
    expect(await call(stack.url, tenants.keys.viewer, "POST", "/folders", body)).toMatchObject({
      status: 403,
      body: { detail: "Permission denied: write on folders" },
    });
    for (const key of [tenants.keys.rival, tenants.keys.scoped])
      expect(await call(stack.url, key, "POST", "/folders", body)).toMatchObject({
        status: 404,
        body: { detail: "Space not found" },
      });
  });

  test("in a parent of another space is 400, in one that is not reached 404", async () => {
    const elsewhere = await make("Elsewhere", null, tenants.spaces.archive);
    expect(
      (
        await request("POST", "/folders", {
          name: "x",
          space_id: tenants.spaces.research,
          parent_folder_id: elsewhere.id,
        })
      ).status,
    ).toBe(400);
    expect(
      (
        await call(stack.url, tenants.keys.editor, "POST", "/folders", {
          name: "x",
          space_id: tenants.spaces.research,
          parent_folder_id: elsewhere.id,
        })
      ).status,
    ).toBe(404);
    expect(
      await request("POST", "/folders", {
        name: "x",
        space_id: tenants.spaces.research,
        parent_folder_id: UNKNOWN,
      }),
    ).toMatchObject({
      status: 404,
      body: { detail: "Folder not found" },
    });
  });
});

describe("lists and contents", () => {
  test("a list has the space's folders, or the children of one", async () => {
    const outer = await make("Listed");
    const first = await make("First", outer.id);
    const second = await make("Second", outer.id);
    const deep = await make("Deep", first.id);
    const children = await request(
      "GET",
      `/folders/space/${tenants.spaces.research}?parent_folder_id=${outer.id}`,
    );
    expect(children).toMatchObject({
      status: 200,
      body: { items: [second, first], total_items: 2, total_pages: 1, page: 1, page_size: 100 },
    });
    const all = await request("GET", `/folders/space/${tenants.spaces.research}?limit=1000`);
    expect(all.body.items.map((folder: any) => folder.id)).toEqual(
      expect.arrayContaining([outer.id, first.id, second.id, deep.id]),
    );
    const paged = await request(
      "GET",
      `/folders/space/${tenants.spaces.research}?parent_folder_id=${outer.id}&limit=1&page=2`,
    );
    expect(paged.body).toMatchObject({
      items: [first],
      total_items: 2,
      total_pages: 2,
      page: 2,
      page_size: 1,
    });
    expect(
      (await request("GET", `/folders/space/${tenants.spaces.research}?parent_folder_id=${outer.id}&page=9`))
        .body,
    ).toMatchObject({ items: [], total_items: 2 });
    expect(
      (await request("GET", `/folders/space/${tenants.spaces.research}?parent_folder_id=${UNKNOWN}`)).body,
    ).toMatchObject({ items: [], total_items: 0, total_pages: 0 });
    expect(
      (await request("GET", `/folders/space/${tenants.spaces.research}?parent_folder_id=x`)).status,
    ).toBe(422);
    for (const key of [tenants.keys.rival, tenants.keys.scoped])
      expect((await call(stack.url, key, "GET", `/folders/space/${tenants.spaces.research}`)).status).toBe(
        404,
      );
    expect(
      (await call(stack.url, tenants.keys.viewer, "GET", `/folders/space/${tenants.spaces.research}`)).status,
    ).toBe(200);
  });

  test("contents have what lies directly in the folder, documents by page", async () => {
    const outer = await make("Contents");
    const inner = await make("Inner", outer.id);
    const documents = [await put(outer.id, "one"), await put(outer.id, "two"), await put(outer.id, "three")];
    await put(inner.id, "deeper");
    const { status, body } = await request("GET", `/folders/${outer.id}/contents?limit=2`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      folder_id: outer.id,
      folder: outer,
      sub_folders: [inner],
      sub_folder_count: 1,
      document_count: 3,
      page: 1,
      page_size: 2,
    });
    expect(body.documents.map((document: any) => document.id)).toEqual([documents[2].id, documents[1].id]);
    expect(body.documents[0]).toMatchObject({
      folder_id: outer.id,
      folder_path: "Contents",
      space_id: tenants.spaces.research,
    });
    expect(
      (await request("GET", `/folders/${outer.id}/contents?limit=2&page=2`)).body.documents,
    ).toMatchObject([{ id: documents[0].id }]);
    expect((await request("GET", `/folders/${outer.id}/contents?page=50`)).body).toMatchObject({
      documents: [],
      document_count: 3,
      sub_folder_count: 1,
    });
    expect((await call(stack.url, tenants.keys.viewer, "GET", `/folders/${outer.id}/contents`)).status).toBe(
      200,
    );
    for (const key of [tenants.keys.rival, tenants.keys.scoped])
      expect(await call(stack.url, key, "GET", `/folders/${outer.id}/contents`)).toMatchObject({
        status: 404,
        body: { detail: "Folder not found" },
      });
    expect((await request("GET", "/folders/not-an-id/contents")).status).toBe(422);
  });
});
