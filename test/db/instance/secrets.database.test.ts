import { afterAll, beforeAll, expect, it } from "vitest";
import { loadInstanceSecret, rewrapInstanceSecrets } from "../../../src/db/instance/secrets.ts";
import { localMasterKey, withPreviousKey } from "../../../src/storage/keys/keyring.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

const master = localMasterKey(Buffer.alloc(32, 1));
const next = localMasterKey(Buffer.alloc(32, 2));

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it("a secret is made once, whoever asks first, and is not in the database as it is", async () => {
  const secrets = await Promise.all(
    Array.from({ length: 8 }, () => loadInstanceSecret(test.db, "pepper", master)),
  );
  expect(secrets[0]).toHaveLength(32);
  expect(new Set(secrets.map((secret) => secret.toString("hex"))).size).toBe(1);
  const { rows } = await test.db.owner.query<{ wrapped: Buffer }>("select wrapped from instance_secrets");
  expect(rows).toHaveLength(1);
  expect(rows[0]!.wrapped).not.toContain(secrets[0]!);
  expect(await loadInstanceSecret(test.db, "another", master)).not.toEqual(secrets[0]);
});

it("another master key is refused rather than given a new secret", async () => {
  await loadInstanceSecret(test.db, "pepper", master);
  await expect(loadInstanceSecret(test.db, "pepper", next)).rejects.toThrow("is wrapped by the master key");
});

it("rotation of the master key keeps the secret", async () => {
  const before = await loadInstanceSecret(test.db, "pepper", master);
  expect(await rewrapInstanceSecrets(test.db, withPreviousKey(next, master))).toBeGreaterThan(0);
  expect(await rewrapInstanceSecrets(test.db, withPreviousKey(next, master))).toBe(0);
  expect(await loadInstanceSecret(test.db, "pepper", next)).toEqual(before);
  await rewrapInstanceSecrets(test.db, withPreviousKey(master, next));
});

it("a wrapped secret that was put in another's place is refused", async () => {
  await loadInstanceSecret(test.db, "one", master);
  await test.db.owner.query(
    `insert into instance_secrets
     select 'two', wrapped, master_key_id
     from instance_secrets
     where name = 'one'`,
  );
  await expect(loadInstanceSecret(test.db, "two", master)).rejects.toThrow("integrity check");
});
