/**
 * Checks what must hold after the version before has ended: each promise is checked from outside, in the
 * database, Temporal and the API of this version.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../../support/clients/client.ts";
import { KEYS, RIVAL, TENANTS } from "../../support/tenants/tenants.ts";
import { findFaults } from "../checks.ts";
import { objectsInFolder } from "../objects.ts";
import { findChatFaults } from "./world/chats.ts";
import { type Given, completed, findLeft, findUnreadable } from "./world/documents.ts";
import { findWorkflowFaults, readHistories, replayAll } from "./world/histories.ts";
import { countStuck } from "./looks.ts";
import type { Finding } from "./report.ts";
import type { Service } from "./service.ts";
import { RIVALRY, type UnderWay, type Upgrade } from "./world/under-way.ts";
import type { Watch } from "./watch.ts";

/** Everything must have ended this long after the end of the version before's last process. */
const BOUND_MS = 60_000;
const LOOK_MS = 200;
/** For a shorter time, a workflow's task may be on its second attempt for good reasons. */
const STUCK_MS = 10_000;
/** The number of documents that are read concurrently. */
const READERS = 8;
/** The admin of the organization that is exported. */
const ROB = `rob@rival.${TENANTS.domain}`;
const EVENTS_OF_WORK = [
  "document.uploaded",
  "document.completed",
  "document.deleted",
  "batch.completed",
  "turn.completed",
];
/** What the SDK prints if a worker was given what its version does not know. */
const IN_LOGS: Readonly<Record<string, RegExp>> = {
  "was asked for an activity that it does not have": /is not registered on this Worker/,
  "could not go on with a workflow that the other version had begun": /Nondeterminism error/,
};

/** Waits until all work has ended. */
export async function allHasEnded(upgrade: Upgrade): Promise<Finding> {
  const { world, after, ledger } = upgrade;
  const { temporal, database, dataDir } = world;
  const { api, worker } = after;
  const accepted = ledger.kept.size + ledger.gone.size;
  const seen = `${accepted} documents accepted, ${ledger.gone.size} of them deleted`;
  const begun = performance.now();
  for (;;) {
    const looked = findFaults(
      { stack: { database, api, worker }, temporal, objects: objectsInFolder(dataDir) },
      new Set(ledger.kept.keys()),
    );
    const faults = await looked.catch((error: unknown) => [`the look failed: ${String(error)}`]);
    const waitedMs = performance.now() - begun;
    if (faults.length === 0 || waitedMs > BOUND_MS) return { seen, faults };
    if (waitedMs > STUCK_MS && (await countStuck(temporal)) > 0) return { seen, faults };
    await sleep(LOOK_MS);
  }
}

/**
 * Checks that the log has events of every kind of work, whichever version did it; FAULTY_EVENTS finds a
 * change without one.
 */
export async function eventsAreInTheLog({ world }: Upgrade): Promise<Finding> {
  const { rows } = await world.database.db.owner.query<{ type: string; count: number }>(
    `select type, count(position)::int as count
     from events
     group by type`,
  );
  const types = new Set(rows.map(({ type }) => type));
  return {
    seen: `${rows.reduce((sum, { count }) => sum + count, 0)} events of ${types.size} types`,
    faults: EVENTS_OF_WORK.filter((type) => !types.has(type)).map((type) => `no event is ${type}`),
  };
}

export async function nothingWasRefused(watches: readonly Watch[]): Promise<Finding> {
  const served = await Promise.all(watches.map((watch) => watch.stop()));
  const asked = served.reduce((sum, one) => sum + one.asked, 0);
  return { seen: `${asked} requests, one after the other`, faults: served.flatMap(({ faults }) => faults) };
}

export async function documentsAreReadable({ after: { url }, ledger }: Upgrade): Promise<Finding> {
  const [kept, gone] = [[...ledger.kept.values()], [...ledger.gone.values()]];
  const faults = [
    ...(await inTurns(kept, async (given) =>
      (await findUnreadable(url, given)).map((fault) => `a document ${fault}`),
    )),
    ...(await inTurns(gone, async (given) =>
      (await findLeft(url, given)).map((fault) => `a deleted document ${fault}`),
    )),
  ];
  return {
    seen: `${kept.length} documents: state, text, chunks, file, search; ${gone.length} deleted`,
    faults,
  };
}

async function inTurns(
  documents: readonly Given[],
  look: (given: Given) => Promise<string[]>,
): Promise<string[]> {
  const left = [...documents];
  const found: string[] = [];
  const reader = async (): Promise<void> => {
    for (let given = left.pop(); given !== undefined; given = left.pop()) found.push(...(await look(given)));
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return found;
}

export async function chatsAreAnsweredOnce({ world, chats }: Upgrade, underWay: UnderWay): Promise<Finding> {
  await underWay.chats;
  const { rows } = await world.database.db.owner.query<{ status: string; count: number }>(
    "select status, count(*)::int as count from turns group by status",
  );
  const isNoted =
    rows.length === 1 && rows[0]!.status === "completed" && rows[0]!.count === chats.asked.length;
  const misnoted = isNoted ? [] : [`${chats.asked.length} chats are recorded as ${JSON.stringify(rows)}`];
  return {
    seen: `${chats.asked.length} chats`,
    faults: [...findChatFaults(chats, world.provider), ...misnoted],
  };
}

export async function batchesAreComplete(
  { after: { url } }: Upgrade,
  { running, paused }: UnderWay,
): Promise<Finding> {
  const answers = await Promise.all(
    [running, paused].map((id) => call(url, KEYS.editor, "GET", `/data/batches/${id}`)),
  );
  const wrong = answers.filter(
    ({ body }) => body.status !== "completed" || body.counts?.completed !== body.total,
  );
  return {
    seen: `${answers.length} batches, one of them paused in between`,
    faults: wrong.map(
      ({ body }) => `a batch is ${body.status} with ${body.counts?.completed} of ${body.total} documents`,
    ),
  };
}

/**
 * Checks that the histories replay. It runs before the archive is tested, because deleting an organization
 * destroys the keys that its histories are read with.
 */
export async function historiesReplay({ world }: Upgrade, root: string): Promise<Finding> {
  const workflows = await readHistories(world.temporal);
  const types = new Set(workflows.map(({ type }) => type));
  const faults = [
    ...findWorkflowFaults(workflows),
    ...(await replayAll(root, { ...world.env, ...world.database.env, PORT: "0" }, workflows)),
  ];
  return { seen: `${workflows.length} workflows of ${types.size} types ended in order and replay`, faults };
}

/**
 * Checks the logs, which also show tasks that the other version's worker retried successfully: the histories
 * do not keep those.
 */
export async function workersKnewTheirTasks({ before, after }: Upgrade): Promise<Finding> {
  const said = (service: Service): string[] =>
    Object.keys(IN_LOGS).filter((fault) => IN_LOGS[fault]!.test(service.output()));
  const faults = [before, after].flatMap((service) =>
    said(service).map((fault) => `a worker of ${service.name} ${fault}`),
  );
  return { seen: "the logs of both versions", faults };
}

/** Deletes the exported organization and imports its archive, whose export the version before had started. */
export async function archiveIsWhole(upgrade: Upgrade, { archive }: UnderWay): Promise<Finding> {
  const { after, ledger } = upgrade;
  const rival = [...ledger.kept.values()].filter(({ spaceId }) => spaceId === RIVALRY.spaceId);
  await after.cli("organization", "delete", RIVAL, "--yes", "--grace", "0");
  await after.cli("organization", "import", "--from", archive.folder, "--key-file", archive.keyFile);
  const { key } = JSON.parse(
    await after.cli("keys", "create", "--email", ROB, "--name", "imported", "--json"),
  ) as { key: string };
  const imported = rival.map((given) => ({ ...given, key }));
  await completed(after.url, imported);
  const faults = await inTurns(imported, async (given) =>
    (await findUnreadable(after.url, given)).map((fault) => `an imported document ${fault}`),
  );
  return { seen: `${rival.length} documents of an organization that was deleted and imported again`, faults };
}
