/** Which document gets the next parser process, if more wait than there are processes. */
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Owner } from "../../../src/process/concurrency/fair-queue.ts";
import {
  createParserPool,
  type ParserPool,
  type ParserPoolOptions,
} from "../../../src/parsers/process/child-process.ts";
import type { ParseInput } from "../../../src/parsers/parser.ts";

const misbehaving = new URL("../../support/processes/misbehaving-child.ts", import.meta.url);
const ann: Owner = { organizationId: "acme", userId: "ann" };
const bob: Owner = { organizationId: "acme", userId: "bob" };
const carol: Owner = { organizationId: "acme", userId: "carol" };
const rex: Owner = { organizationId: "rival", userId: "rex" };

let pool: ParserPool;
let folder: string;
/** The number of documents that keep a process busy. */
let started: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parser-turns-"));
  started = 0;
});
afterEach(async () => {
  await pool.close();
  rmSync(folder, { recursive: true });
});

function open(options: Partial<ParserPoolOptions>): void {
  pool = createParserPool({ entry: misbehaving, size: 1, folder, ...options });
}

const asks = (behaviour: string, bytes = 0): ParseInput => ({
  fileType: "TEXT",
  bytes: Buffer.from(bytes > 0 ? `${behaviour}:`.padEnd(bytes, "x") : behaviour),
});
const read = (owner: Owner, bytes?: number) => pool.parse(asks("pid", bytes), { owner });

/** Keeps a process busy with a document of the owner; the returned function ends that. */
async function keepBusy(owner: Owner): Promise<() => Promise<void>> {
  const marker = `busy-${started}`;
  started++;
  const controller = new AbortController();
  const gone = pool
    .parse(asks(`spin:${marker}`), { owner, signal: controller.signal })
    .catch(() => undefined);
  await expect.poll(() => globSync(join(folder, "*", "scratch", marker)).length, { timeout: 20_000 }).toBe(1);
  return async () => {
    controller.abort();
    await gone;
  };
}

/** The order in which waiting documents are read after the only process has become free. */
async function orderAfter(
  first: Owner,
  documents: ReadonlyArray<readonly [name: string, owner: Owner, bytes?: number]>,
): Promise<string[]> {
  const release = await keepBusy(first);
  const order: string[] = [];
  const all = documents.map(([name, owner, bytes]) => read(owner, bytes).then(() => order.push(name)));
  await release();
  await Promise.all(all);
  return order;
}

describe("one process", () => {
  test("goes to the owner that has used it least: another organization, then another user", async () => {
    open({ spares: 0 });
    const order = await orderAfter(ann, [
      ["ann 1", ann],
      ["ann 2", ann],
      ["bob", bob],
      ["rex", rex],
    ]);
    expect(order.slice(0, 2)).toEqual(["rex", "bob"]);
  });

  test("goes to the smaller document of a user first", async () => {
    open({ spares: 0 });
    const order = await orderAfter(ann, [
      ["large", bob, 2_000_000],
      ["small", bob],
    ]);
    expect(order).toEqual(["small", "large"]);
  });
});

describe("spare processes", () => {
  test("read a small document while a slow one of its user is read, and no large one", async () => {
    open({ spares: 3 });
    const release = await keepBusy(ann);
    const order: string[] = [];
    const large = read(ann, 2_000_000).then(() => order.push("large"));
    await read(ann).then(() => order.push("small"));
    expect(order).toEqual(["small"]);
    await release();
    await large;
  });

  test("are neither all for one user nor all for one organization", async () => {
    open({ spares: 3 });
    const releases = [await keepBusy(ann), await keepBusy(ann)];
    const order: string[] = [];
    const anns = read(ann).then(() => order.push("ann"));
    releases.push(await keepBusy(bob));
    const carols = read(carol).then(() => order.push("carol"));
    await read(rex).then(() => order.push("rex"));
    expect(order).toEqual(["rex"]);
    for (const release of releases) await release();
    await Promise.all([anns, carols]);
  });
});
