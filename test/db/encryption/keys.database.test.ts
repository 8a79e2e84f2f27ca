import { afterAll, beforeAll, expect, it } from "vitest";
import {
  insertFirstOrganizationKey,
  listKeysNotWrappedBy,
  listOrganizationKeys,
  replaceOrganizationKey,
  rewrapOrganizationKey,
} from "../../../src/db/encryption/keys.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const key = (byte: number) => ({ id: newId(), wrapped: Buffer.alloc(60, byte) });

it("of first keys that come at the same time one is kept, and no other organization sees it", async () => {
  const [own, other] = [await makeOrganization(test.db), await makeOrganization(test.db)];
  await Promise.all([1, 2, 3, 4].map((byte) => insertFirstOrganizationKey(test.db, own.id, "m1", key(byte))));
  const kept = await listOrganizationKeys(test.db, own.id);
  expect(kept).toMatchObject([{ isCurrent: true }]);
  expect(await listOrganizationKeys(test.db, other.id)).toEqual([]);
});

it("a new key becomes the current one and the old one stays", async () => {
  const { id } = await makeOrganization(test.db);
  const [first, second] = [key(1), key(2)];
  await insertFirstOrganizationKey(test.db, id, "m1", first);
  await replaceOrganizationKey(test.db, id, "m1", second);
  expect((await listOrganizationKeys(test.db, id)).map((one) => [one.id, one.isCurrent])).toEqual(
    [
      [first.id, false],
      [second.id, true],
    ].toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
  );
});

it("rewrapping finds all that the old master key wraps, and never overwrites a newer wrap", async () => {
  const { id } = await makeOrganization(test.db);
  const one = key(1);
  await insertFirstOrganizationKey(test.db, id, "old", one);
  expect((await listKeysNotWrappedBy(test.db, "new", 10)).find((found) => found.id === one.id)).toMatchObject(
    { organization_id: id, master_key_id: "old" },
  );
  await rewrapOrganizationKey(test.db, { id: one.id, wrapped: Buffer.alloc(60, 9) }, "old", "new");
  await rewrapOrganizationKey(test.db, { id: one.id, wrapped: Buffer.alloc(60, 5) }, "old", "newer");
  expect(
    (await listKeysNotWrappedBy(test.db, "new", 10)).find((found) => found.id === one.id),
  ).toBeUndefined();
  expect((await listOrganizationKeys(test.db, id))[0]!.wrapped).toEqual(Buffer.alloc(60, 9));
});
