/**
 * Starts work of every kind that the version before cannot finish: this is what the new version finds at its
 * start.
 */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call } from "../../../support/clients/client.ts";
import { KEYS, RIVAL, SPACES } from "../../../support/tenants/tenants.ts";
import { until } from "../../../support/until.ts";
import { type Chats, ask } from "./chats.ts";
import {
  type Ledger,
  type Given,
  completed,
  expectGone,
  expectStatus,
  putFile,
  upload,
  uploadMany,
} from "./documents.ts";
import { countRetried, countWaiting, listExecuting } from "../looks.ts";
import type { Service } from "../service.ts";
import type { World } from "./world.ts";

export interface Upgrade {
  readonly world: World;
  readonly before: Service;
  readonly after: Service;
  readonly ledger: Ledger;
  readonly chats: Chats;
}

export const RESEARCH = { spaceId: SPACES.research, key: KEYS.editor } as const;
export const RIVALRY = { spaceId: SPACES.rival, key: KEYS.rival } as const;
/** A path in Research whose file both versions replace. */
export const REPLACED = "replaced.md";
const REPROCESSED = 4;

/** What exists before the first fault. */
export interface Settled {
  /** Eight documents: four of the running batch and four of the paused one. */
  readonly batched: readonly Given[];
  readonly doomed: {
    readonly folderId: string;
    readonly spaceId: string;
    readonly single: Given;
    readonly documents: readonly Given[];
  };
}

export interface UnderWay {
  readonly running: string;
  readonly paused: string;
  /** The archive of the organization Rival, whose export the version before has started. */
  readonly archive: { readonly folder: string; readonly keyFile: string; readonly operation: string };
  /** Resolves when every chat that was started has its answer. */
  readonly chats: Promise<unknown>;
}

/** Makes completed documents in a space, a folder and another organization. */
export async function settle({ world, before: { url }, ledger }: Upgrade): Promise<Settled> {
  const token = await world.issuer.token("ada");
  const space = expectStatus(201, await call(url, token, "POST", "/spaces", { name: "Doomed" }), "a space");
  const folder = expectStatus(
    201,
    await call(url, KEYS.editor, "POST", "/folders", { name: "Doomed", space_id: SPACES.research }),
    "a folder",
  );
  const [folderId, spaceId]: string[] = [folder.body.id, space.body.id];
  const [batched, single, inFolder, inSpace, rival, file] = await Promise.all([
    uploadMany(ledger, url, RESEARCH, 2 * REPROCESSED),
    upload(ledger, url, RESEARCH),
    uploadMany(ledger, url, { ...RESEARCH, folderId: folderId! }, 3),
    uploadMany(ledger, url, { spaceId: spaceId!, key: KEYS.owner }, 2),
    uploadMany(ledger, url, RIVALRY, 3),
    putFile(ledger, url, RESEARCH, REPLACED),
  ]);
  await completed(url, [...batched, single, ...inFolder, ...inSpace, ...rival, file]);
  return {
    batched,
    doomed: { folderId: folderId!, spaceId: spaceId!, single, documents: [single, ...inFolder, ...inSpace] },
  };
}

/** Takes the provider and the objects away at moments that leave each kind of work half done. */
export async function leaveUnderWay(upgrade: Upgrade, settled: Settled): Promise<UnderWay> {
  const { world, before, chats } = upgrade;
  await waitForProvider(upgrade);
  const { running, paused } = await startBatches(upgrade, settled.batched);
  await hangAtProvider(upgrade);
  await takeObjectsAway(world);
  const archive = await deleteAndExport(upgrade, settled.doomed);
  const begun = [
    ask(chats, before.url, { agent: "librarian", isStreamed: true, isHeld: true }),
    ask(chats, before.url, { agent: "librarian", isHeld: true }),
    ask(chats, before.url, { agent: "analyst", isStreamed: true, isHeld: true }),
  ];
  for (const schedule of ["maintenance", "index-upkeep"])
    await world.temporal.schedule.getHandle(schedule).trigger();
  await until("every chat is in the middle of its answer", () => chats.held === begun.length);
  return { running, paused, archive, chats: Promise.all(begun) };
}

/** Makes uploads wait in a timer until the provider may be asked again. */
async function waitForProvider({
  world: { provider, temporal },
  before: { url },
  ledger,
}: Upgrade): Promise<void> {
  provider.failEmbeddings({ status: 503 });
  await uploadMany(ledger, url, RESEARCH, 4);
  await until("uploads wait for the provider", async () => (await countWaiting(temporal)) > 0);
}

async function startBatches(
  { before: { url } }: Upgrade,
  documents: readonly Given[],
): Promise<{ running: string; paused: string }> {
  const start = async (of: readonly Given[]): Promise<string> => {
    const body = { document_ids: of.map(({ id }) => id), chunker_name: "sentence" };
    const { body: batch } = await call(url, KEYS.editor, "POST", "/data/batch-reprocess", body);
    return batch.batch_id;
  };
  const running = await start(documents.slice(0, REPROCESSED));
  const paused = await start(documents.slice(REPROCESSED));
  expectStatus(202, await call(url, KEYS.editor, "POST", `/data/batches/${paused}/pause`), "a pause");
  return { running, paused };
}

/** Makes the worker wait for the provider's answer while it processes uploads. */
async function hangAtProvider({ world, before: { url, worker }, ledger }: Upgrade): Promise<void> {
  world.provider.failEmbeddings({ hang: true });
  await uploadMany(ledger, url, RESEARCH, 3);
  const { owner } = world.database.db;
  const notParsed = `
    select
    from pipeline_runs
    where status in ('parsing', 'chunking')
      or (status = 'queued' and batch_id is null)`;
  // The objects are taken away next, and documents that are already parsed do not need them.
  await until("all is parsed", async () => (await owner.query(notParsed)).rowCount === 0);
  await until("the worker has an embedding in hand", async () =>
    (await listExecuting(world.temporal, worker.child.pid!)).includes("embedAndPublish"),
  );
}

/**
 * Starts deletions of a folder and a space, and an export, which all stop at their first object. The deletion
 * of a document needs no object, since objects stay.
 */
async function deleteAndExport(
  { world, before, ledger }: Upgrade,
  doomed: Settled["doomed"],
): Promise<UnderWay["archive"]> {
  const remove = async (key: string, path: string): Promise<unknown> =>
    expectStatus(204, await call(before.url, key, "DELETE", path), "a deletion");
  await remove(KEYS.editor, `/data/${doomed.single.id}`);
  await remove(KEYS.editor, `/folders/${doomed.folderId}`);
  await remove(await world.issuer.token("ada"), `/spaces/${doomed.spaceId}`);
  expectGone(ledger, doomed.documents);
  const folder = join(world.folder, "archive");
  const keyFile = join(world.folder, "archive.key");
  const asked = await before.cli(
    "organization",
    "export",
    RIVAL,
    "--to",
    folder,
    "--key-file",
    keyFile,
    "--no-wait",
    "--json",
  );
  const isStopped = async (type: string): Promise<boolean> => (await countRetried(world.temporal, type)) > 0;
  await until(
    "deletions and the export are in the middle",
    async () => (await isStopped("deleteTarget")) && (await isStopped("operation")),
  );
  return { folder, keyFile, operation: JSON.parse(asked).operation_id };
}

const objects = ({ dataDir }: World): string => join(dataDir, "objects");

async function takeObjectsAway(world: World): Promise<void> {
  await rename(objects(world), `${objects(world)}.away`);
  // A file in place of the folder makes every path below it fail.
  await writeFile(objects(world), "");
}

/** Ends all faults at once. */
export async function endFaults(world: World): Promise<void> {
  await rm(objects(world));
  await rename(`${objects(world)}.away`, objects(world));
  world.provider.clearFaults();
  world.provider.dropHanging();
}
