/** The object stores of the drill: how each is taken away, filled up and listed. */
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ANCHOR_PREFIX } from "../../src/domain/anchor.ts";
import type { ObjectStore } from "../../src/storage/object-store.ts";
import { createS3Store } from "../../src/storage/stores/s3.ts";
import { startFaultyConnection } from "../support/servers/faulty-connection.ts";
import { sharedSeaweedfs } from "../support/servers/seaweedfs.ts";
import type { Stack } from "../support/stack/stack.ts";

const LISTED_AT_ONCE = 1_000;

export interface DrillObjects {
  /** Makes every request to the store fail until {@link DrillObjects.giveBack}. */
  takeAway(): Promise<void>;
  giveBack(): Promise<void>;
  /** Makes every write fail until {@link DrillObjects.empty}. */
  fill(): Promise<void>;
  empty(): Promise<void>;
  /** Names of the objects of organizations. What a broken write could not remove is not an object. */
  names(): Promise<string[]>;
}

export interface DrillStore {
  /** Settings for the stack's processes. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * The store of a stack that was started with these settings; `folder` is where the drill and the processes
   * communicate.
   */
  objectsOf(stack: Pick<Stack, "dataDir">, folder: string): DrillObjects;
  stop(): Promise<void>;
}

export const DRILL_STORES: Readonly<Record<string, () => Promise<DrillStore>>> = {
  directory: () => Promise.resolve({ env: {}, objectsOf: folderOf, stop: () => Promise.resolve() }),
  s3: startS3,
};

/** Lists the objects of a service that keeps them in its own folder. */
export function objectsInFolder(dataDir: string): Pick<DrillObjects, "names"> {
  const objects = join(dataDir, "objects");
  return {
    async names() {
      const entries = await readdir(objects, { recursive: true, withFileTypes: true }).catch(() => []);
      const names = entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(objects.length + 1));
      // Leaves out unfinished files, which no reader sees and which are removed after a day, and anchors,
      // which belong to no row.
      return names.filter((name) => !name.startsWith(".tmp/") && !name.startsWith(ANCHOR_PREFIX));
    },
  };
}

function folderOf({ dataDir }: Pick<Stack, "dataDir">, folder: string): DrillObjects {
  const objects = join(dataDir, "objects");
  return {
    ...objectsInFolder(dataDir),
    async takeAway() {
      await rename(objects, `${objects}.away`);
      // A file in place of the folder makes every path below it fail.
      await writeFile(objects, "");
    },
    async giveBack() {
      await rm(objects);
      await rename(`${objects}.away`, objects);
    },
    // hooks.ts checks for this file at each write.
    fill: () => writeFile(join(folder, "disk full"), ""),
    empty: () => rm(join(folder, "disk full")),
  };
}

async function startS3(): Promise<DrillStore> {
  const seaweedfs = await sharedSeaweedfs();
  const connection = await startFaultyConnection(seaweedfs.endpoint);
  const store = createS3Store({
    bucket: seaweedfs.bucket,
    endpoint: seaweedfs.endpoint,
    forcePathStyle: true,
  });
  const isWrite = ({ method }: { readonly method: string }): boolean => method === "PUT" || method === "POST";
  const heal = async (): Promise<void> => connection.heal();
  const objects: DrillObjects = {
    takeAway: async () => void connection.failFirst(Infinity, { status: 503 }, () => true),
    giveBack: heal,
    fill: async () =>
      void connection.failFirst(
        Infinity,
        { status: 507, body: "<Error><Code>XMinioStorageFull</Code></Error>" },
        isWrite,
      ),
    empty: heal,
    names: () => namesIn(store),
  };
  return {
    env: { ...seaweedfs.env, S3_ENDPOINT: connection.origin },
    objectsOf: () => objects,
    async stop() {
      await connection.close();
      await seaweedfs.stop();
    },
  };
}

async function namesIn(store: ObjectStore): Promise<string[]> {
  const names: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.list("", { limit: LISTED_AT_ONCE, after });
    names.push(...page.map(({ name }) => name));
    if (page.length < LISTED_AT_ONCE) return names.filter((name) => !name.startsWith(ANCHOR_PREFIX));
    after = page.at(-1)!.name;
  }
}
