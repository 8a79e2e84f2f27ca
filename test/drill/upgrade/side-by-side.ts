/**
 * Runs both versions on the same data: the new one starts, the old one restarts on the new schema, both take
 * requests, and the old one ends.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../../support/clients/client.ts";
import { ACME } from "../../support/tenants/tenants.ts";
import { until } from "../../support/until.ts";
import { ask, askAgain, chatIsReady, letGo } from "./world/chats.ts";
import {
  type Given,
  completed,
  deleteDocument,
  expectStatus,
  findUnreadable,
  putFile,
  uploadMany,
} from "./world/documents.ts";
import { countRunning, listExecuting } from "./looks.ts";
import type { Service } from "./service.ts";
import { REPLACED, RESEARCH, type UnderWay, type Upgrade, endFaults } from "./world/under-way.ts";

/**
 * A migration that the version before does not know. It makes sure that the version before can start and
 * serve on a newer schema even if this version has no migration.
 */
const NEXT_SCHEMA = `
  alter table documents add column drill_note text;
  create table drill_notes (id uuid primary key, note text not null);
  insert into migrations (name) values ('9999_drill.sql')`;
/** After this time a stopping process has received the signal. */
const SIGNALLED_MS = 300;
const UPLOADS = 4;
/** Chance decides which worker gets an upload; with so many, each worker gets one. */
const TRIES = 20;

interface Step {
  readonly seen: string;
  readonly result: undefined;
}

const did = (seen: string): Step => ({ seen, result: undefined });

/** Migrates and starts this version while the other one serves and is processing work. */
export async function startBeside({ world, after }: Upgrade): Promise<Step> {
  const { applied } = JSON.parse(await after.cli("migrate", "--json")) as { applied: string[] };
  await world.database.db.owner.query(NEXT_SCHEMA);
  await Promise.all([after.startApi(), after.startWorker()]);
  const running = [...(await countRunning(world.temporal))]
    .map(([type, count]) => `${count} ${type}`)
    .join(", ");
  return did(`${applied.length} migrations of its own and one that nobody knows; under way: ${running}`);
}

/**
 * Kills the worker while it processes work, stops the API while it streams, and starts both on the newer
 * schema.
 */
export async function restartBefore({ world, before, chats }: Upgrade): Promise<Step> {
  const lost = await listExecuting(world.temporal, before.worker.child.pid!);
  if (lost.length === 0)
    throw new Error("the worker has nothing in hand, so that killing it would show nothing");
  const worker = async (): Promise<void> => {
    await before.worker.kill("SIGKILL");
    await before.startWorker();
  };
  const api = async (): Promise<void> => {
    const stopped = before.api.kill("SIGTERM");
    await sleep(SIGNALLED_MS);
    letGo(chats);
    await stopped;
    await before.startApi();
    await chatIsReady(chats, before.url);
  };
  await Promise.all([worker(), api()]);
  return did(
    `its worker was killed with ${lost.length} activities in hand (${[...new Set(lost)].join(", ")})`,
  );
}

/** Sends new work through both versions, on data that the other one has written. */
export async function workInBoth(upgrade: Upgrade, { paused }: UnderWay): Promise<Step> {
  const { world, before, after, ledger } = upgrade;
  await endFaults(world);
  const [byBefore, byAfter] = await Promise.all([
    uploadMany(ledger, before.url, RESEARCH, UPLOADS),
    uploadMany(ledger, after.url, RESEARCH, UPLOADS),
    putFile(ledger, before.url, RESEARCH, REPLACED).then(() =>
      putFile(ledger, after.url, RESEARCH, REPLACED),
    ),
    call(after.url, RESEARCH.key, "POST", `/data/batches/${paused}/resume`).then((answer) =>
      expectStatus(202, answer, "a resume"),
    ),
    ...["maintenance", "index-upkeep"].map((schedule) =>
      world.temporal.schedule.getHandle(schedule).trigger(),
    ),
    before.cli("keys", "rotate-organization", ACME, "--no-wait"),
    chatInBoth(upgrade),
  ]);
  await Promise.all([completed(after.url, byBefore), completed(before.url, byAfter)]);
  const faults = [...(await findWrong(after, byBefore)), ...(await findWrong(before, byAfter))];
  await Promise.all([changeEach(upgrade, after, byBefore), changeEach(upgrade, before, byAfter)]);
  if (faults.length > 0) throw new Error(faults.join("; "));
  return did(
    `${UPLOADS} uploads through each, reprocessed or deleted through the other; chats, a paused batch, ` +
      "a file at a path, a new key",
  );
}

/**
 * Chats with both kinds of agents, streamed and not, and checks that this version repeats an answer of the
 * version before without another model call.
 */
async function chatInBoth({ before, after, chats }: Upgrade): Promise<void> {
  const each = [before, after].flatMap(({ url }) => [
    ask(chats, url, { agent: "librarian", isStreamed: true }),
    ask(chats, url, { agent: "librarian" }),
    ask(chats, url, { agent: "analyst", isStreamed: true }),
  ]);
  const once = { agent: "librarian", idempotencyKey: "upgrade" } as const;
  const question = await ask(chats, before.url, once);
  await askAgain(chats, after.url, question, once);
  await Promise.all(each);
}

/** Reads documents through one version that the other version has taken in. */
async function findWrong({ name, url }: Service, documents: readonly Given[]): Promise<string[]> {
  const found = await Promise.all(documents.map((given) => findUnreadable(url, given)));
  return found.flat().map((fault) => `a document that the other version took in ${fault} through ${name}`);
}

/** Deletes the first document and reprocesses the others. */
async function changeEach(
  { ledger }: Upgrade,
  { url }: Service,
  [first, ...others]: readonly Given[],
): Promise<void> {
  await deleteDocument(ledger, url, first!);
  const reprocess = async ({ id, key }: Given): Promise<unknown> =>
    expectStatus(
      202,
      await call(url, key, "POST", `/data/${id}/reprocess`, { chunker_name: "fixed_tokens" }),
      "a reprocess",
    );
  await Promise.all(others.map(reprocess));
}

/** Ends the version before while its worker processes uploads and its API streams an answer. */
export async function endBefore(upgrade: Upgrade): Promise<Step> {
  const { world, before, after, ledger, chats } = upgrade;
  const pid = before.worker.child.pid!;
  world.provider.failEmbeddings({ hang: true });
  const answers = [
    ask(chats, before.url, { agent: "librarian", isStreamed: true, isHeld: true }),
    ask(chats, before.url, { agent: "analyst", isHeld: true }),
  ];
  let inHand: string[] = [];
  for (let tries = 0; inHand.length === 0 && tries < TRIES; tries += 1) {
    await Promise.all([
      uploadMany(ledger, before.url, RESEARCH, 1),
      uploadMany(ledger, after.url, RESEARCH, 1),
    ]);
    inHand = await listExecuting(world.temporal, pid);
  }
  if (inHand.length === 0)
    throw new Error("the worker has nothing in hand, so that stopping it would show nothing");
  await until("both chats are in the middle of their answers", () => chats.held === answers.length);
  const stopped = before.stop();
  await sleep(SIGNALLED_MS);
  world.provider.clearFaults();
  world.provider.dropHanging();
  letGo(chats);
  await uploadMany(ledger, after.url, RESEARCH, UPLOADS);
  await Promise.all([stopped, ...answers]);
  return did(`its worker had ${inHand.length} activities in hand, its API two answers`);
}
