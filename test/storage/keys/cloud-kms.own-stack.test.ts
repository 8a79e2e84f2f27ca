/** A master key that stays in a key management service. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cloudKmsMasterKey } from "../../../src/storage/keys/cloud-kms.ts";
import { localMasterKey } from "../../../src/storage/keys/keyring.ts";
import { openMasterKey } from "../../../src/storage/keys/master-key.ts";
import { call, ended, upload } from "../../support/clients/client.ts";
import { type FakeKms, startFakeKms } from "../../support/servers/fake-kms.ts";
import { startStack } from "../../support/stack/stack.ts";
import { KEYS, SPACES } from "../../support/tenants/tenants.ts";

const KEY_NAME = "projects/p/locations/europe/keyRings/ring/cryptoKeys/holdfast";
const SECRET = randomBytes(32);
const AAD = Buffer.from("an organization");

let service: FakeKms;
beforeAll(async () => {
  service = await startFakeKms();
});
afterAll(() => service.close());

const open = (): ReturnType<typeof cloudKmsMasterKey> =>
  cloudKmsMasterKey({ keyName: KEY_NAME, emulatorHost: service.origin });

test("what was wrapped is unwrapped, for its own organization alone", async () => {
  const wrapped = await open().wrap(SECRET, AAD);
  expect(wrapped).not.toContain(SECRET);
  expect(await open().unwrap(wrapped, AAD)).toEqual(SECRET);
  await expect(open().unwrap(wrapped, Buffer.from("another"))).rejects.toMatchObject({ code: "corrupt" });
  await expect(open().unwrap(Buffer.alloc(60), AAD)).rejects.toMatchObject({ code: "corrupt" });
});

describe("a service that fails", () => {
  test("for a moment is asked again", async () => {
    const before = service.calls();
    service.fail(503, 429);
    expect(await open().unwrap(await open().wrap(SECRET, AAD), AAD)).toEqual(SECRET);
    expect(service.calls() - before).toBe(4);
  });

  test.each([
    ["takes the right away", [403]],
    ["knows no such key", [404]],
    ["stays away", [503, 503, 503, 503]],
    ["sends an answer that was damaged on its way", [0]],
  ])("and %s is an outage, not a lost key", async (_, statuses) => {
    service.fail(...statuses);
    await expect(open().wrap(SECRET, AAD)).rejects.toMatchObject({
      code: "storage_unavailable",
      class: "outage",
    });
  });

  test("so is one that nobody answers for", async () => {
    const away = cloudKmsMasterKey({ keyName: KEY_NAME, emulatorHost: "http://127.0.0.1:1" });
    await expect(away.unwrap(SECRET, AAD)).rejects.toMatchObject({ code: "storage_unavailable" });
  });
});

test("keys move from the settings to the service and back, one restart at a time", async () => {
  const bytes = randomBytes(32);
  const settings = {
    master: undefined,
    previous: undefined,
    kmsKeyName: undefined,
    previousKmsKeyName: undefined,
    kmsEmulatorHost: service.origin,
  };
  const local = await localMasterKey(bytes).wrap(SECRET, AAD);
  const there = await openMasterKey({ ...settings, kmsKeyName: KEY_NAME, previous: bytes });
  expect(await there.unwrap(local, AAD)).toEqual(SECRET);
  const back = await openMasterKey({ ...settings, master: bytes, previousKmsKeyName: KEY_NAME });
  expect(await back.unwrap(await there.wrap(SECRET, AAD), AAD)).toEqual(SECRET);
  expect([there.id, there.opens(back.id), back.opens(there.id)]).toEqual([`kms:${KEY_NAME}`, true, true]);
});

test("a whole service runs on it, and its files are read back", async () => {
  const stack = await startStack({
    env: { MASTER_KEY: "", KMS_KEY_NAME: KEY_NAME, KMS_EMULATOR_HOST: service.origin },
  });
  try {
    const text = "# Kept\n\nUnder a key of the key service.";
    const { id } = await upload(stack.url, KEYS.editor, SPACES.research, text, "kept.md");
    const { processing_state, file_path } = await ended(stack.url, KEYS.editor, id);
    expect(processing_state.pipeline_status).toBe("completed");
    const { body } = await call(
      stack.url,
      KEYS.editor,
      "GET",
      `/spaces/${SPACES.research}/data/download?path=${encodeURIComponent(file_path)}`,
    );
    expect(body).toBe(text);
    const { rows } = await stack.database.db.owner.query(
      "select distinct master_key_id from organization_keys",
    );
    expect(rows).toEqual([{ master_key_id: `kms:${KEY_NAME}` }]);
  } finally {
    await stack.close();
  }
}, 120_000);
