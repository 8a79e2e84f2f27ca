import { randomBytes, randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createKeyring, localMasterKey, organizationKeyAad } from "../../../src/storage/keys/keyring.ts";
import type { Keyring } from "../../../src/storage/keys/keyring.ts";
import type { WrappedKey } from "../../../src/domain/tenancy/wrapped-keys.ts";

const master = localMasterKey(randomBytes(32));

/** The rows of a table in memory, shared by keyrings that stand for processes. */
function createRows(): { rows: Map<string, WrappedKey[]>; loads: () => number; keyring: () => Keyring } {
  const rows = new Map<string, WrappedKey[]>();
  let loads = 0;
  const keyring = (): Keyring =>
    createKeyring({
      master,
      load: async (organizationId) => {
        loads += 1;
        return [...(rows.get(organizationId) ?? [])];
      },
      create: async (organizationId, { id, wrapped }) => {
        if (!rows.has(organizationId)) rows.set(organizationId, [{ id, wrapped, isCurrent: true }]);
      },
    });
  return { rows, loads: () => loads, keyring };
}

describe("local master key", () => {
  test("unwraps what it wrapped, and nothing else", async () => {
    const aad = Buffer.from("row 1");
    const secret = randomBytes(32);
    const wrapped = await master.wrap(secret, aad);
    expect((await master.unwrap(wrapped, aad)).equals(secret)).toBe(true);
    await expect(master.unwrap(wrapped, Buffer.from("row 2"))).rejects.toMatchObject({ code: "corrupt" });
    await expect(localMasterKey(randomBytes(32)).unwrap(wrapped, aad)).rejects.toMatchObject({
      code: "corrupt",
    });
    await expect(master.unwrap(wrapped.subarray(0, 20), aad)).rejects.toMatchObject({ code: "corrupt" });
  });

  test("has an id that is its own and tells nothing of it, and exactly 32 bytes", () => {
    const bytes = randomBytes(32);
    expect(localMasterKey(bytes).id).toBe(localMasterKey(bytes).id);
    expect(localMasterKey(bytes).id).not.toBe(master.id);
    expect(localMasterKey(bytes).id).not.toContain(bytes.toString("hex").slice(0, 16));
    expect(() => localMasterKey(randomBytes(16))).toThrow("32 bytes");
  });
});

describe("keyring", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("makes one key for callers of many processes at once", async () => {
    const { rows, keyring } = createRows();
    const organizationId = randomUUID();
    const processes = [keyring(), keyring(), keyring()];
    const keys = await Promise.all(
      Array.from({ length: 30 }, (_, index) => processes[index % 3]!.current(organizationId)),
    );
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
    expect(rows.get(organizationId)).toHaveLength(1);
    expect(keys.every(({ secret }) => secret.equals(keys[0]!.secret))).toBe(true);
  });

  test("asks once a minute, and at once after forget", async () => {
    const { keyring, loads } = createRows();
    const ring = keyring();
    const organizationId = randomUUID();
    const { id } = await ring.current(organizationId);
    const before = loads();
    await Promise.all([ring.current(organizationId), ring.byId(organizationId, id)]);
    expect(loads()).toBe(before);
    vi.advanceTimersByTime(60_001);
    await ring.byId(organizationId, id);
    expect(loads()).toBe(before + 1);
    ring.forget(organizationId);
    await ring.byId(organizationId, id);
    expect(loads()).toBe(before + 2);
  });

  test("finds a key that another process rotated in, and still opens with the old one", async () => {
    const { rows, keyring } = createRows();
    const ring = keyring();
    const organizationId = randomUUID();
    const old = await ring.current(organizationId);
    const id = randomUUID();
    const wrapped = await master.wrap(randomBytes(32), organizationKeyAad(organizationId, id));
    rows.set(organizationId, [
      { ...rows.get(organizationId)![0]!, isCurrent: false },
      { id, wrapped, isCurrent: true },
    ]);
    expect((await ring.byId(organizationId, id)).id).toBe(id);
    expect((await ring.current(organizationId)).id).toBe(id);
    expect((await ring.byId(organizationId, old.id)).secret.equals(old.secret)).toBe(true);
  });

  test("knows a deleted key no more", async () => {
    const { rows, keyring } = createRows();
    const ring = keyring();
    const organizationId = randomUUID();
    const { id } = await ring.current(organizationId);
    rows.set(organizationId, []);
    ring.forget(organizationId);
    await expect(ring.byId(organizationId, id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("refuses a row that was exchanged for another organization's", async () => {
    const { rows, keyring } = createRows();
    const [mine, theirs] = [randomUUID(), randomUUID()];
    await keyring().current(theirs);
    rows.set(mine, rows.get(theirs)!);
    await expect(keyring().current(mine)).rejects.toMatchObject({ code: "corrupt" });
  });

  test("does not keep a failed look-up", async () => {
    let down = true;
    const rows: WrappedKey[] = [];
    const ring = createKeyring({
      master,
      load: async () => {
        if (down) throw new Error("down");
        return rows;
      },
      create: async (_organizationId, { id, wrapped }) => {
        rows.push({ id, wrapped, isCurrent: true });
      },
    });
    await expect(ring.current("a")).rejects.toThrow("down");
    down = false;
    await expect(ring.current("a")).resolves.toBeDefined();
  });
});
