/**
 * `npm run drill -- --upgrade`: this version replaces an earlier one that has work of every kind under way,
 * and none of that work may suffer.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { TENANTS, provisionFile } from "../../support/tenants/tenants.ts";
import { BROKEN_UPGRADES } from "./broken.ts";
import { chatIsReady, openChats, scriptChats } from "./world/chats.ts";
import { openLedger } from "./world/documents.ts";
import {
  allHasEnded,
  archiveIsWhole,
  batchesAreComplete,
  chatsAreAnsweredOnce,
  documentsAreReadable,
  eventsAreInTheLog,
  historiesReplay,
  nothingWasRefused,
  workersKnewTheirTasks,
} from "./promises.ts";
import { type Report, openReport } from "./report.ts";
import { type Service, prepareService } from "./service.ts";
import { endBefore, restartBefore, startBeside, workInBoth } from "./side-by-side.ts";
import { makeBrokenTree, makeTreeOf } from "./trees.ts";
import { type UnderWay, type Upgrade, leaveUnderWay, settle } from "./world/under-way.ts";
import { THIS_TREE, type Version, findVersion, thisVersion } from "./versions.ts";
import { watchApi } from "./watch.ts";
import { openWorld } from "./world/world.ts";

interface UpgradeOptions {
  /** A commit, or `previous`. */
  readonly ref: string;
  /** A name of {@link BROKEN_UPGRADES}. */
  readonly broken?: string | undefined;
  readonly isJson: boolean;
}

/** @returns whether every promise held; of a broken build, whether it was caught. */
export async function drillUpgrade({ ref, broken, isJson }: UpgradeOptions): Promise<boolean> {
  const version = await findVersion(ref);
  const begun = performance.now();
  if (!isJson) process.stdout.write(await conditions(version, broken));
  const report = openReport(isJson);
  const folder = await mkdtemp(join(tmpdir(), "holdfast-upgrade-"));
  let hasBegun = false;
  try {
    const onBegun = (): void => {
      hasBegun = true;
    };
    await runStory(report, version, { folder, broken, onBegun });
  } catch (error) {
    // A failed step is a fault of the upgrade and is already in the report. Any other error, also a version
    // before that does not start, is an error of the drill.
    if (!hasBegun || report.faults.length === 0) throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const isRight =
    broken === undefined
      ? report.faults.length === 0
      : report.faults.some((fault) => BROKEN_UPGRADES[broken]!.shows.test(fault));
  const outcome =
    broken === undefined
      ? isRight
        ? "Every promise held"
        : "A promise did not hold"
      : `"${broken}" was ${isRight ? "caught" : "not caught"}`;
  report.say(`\n${outcome}; ${((performance.now() - begun) / 1_000).toFixed(0)} s.`);
  return isRight;
}

async function conditions({ number, commit }: Version, broken: string | undefined): Promise<string> {
  const processor = `${cpus().length} × ${cpus()[0]?.model.trim()}`;
  const machine = `${processor}, Node ${process.version}; everything on this machine`;
  return (
    `${machine}\n\nFrom ${number} (${commit.slice(0, 8)}) to ` +
    `${await thisVersion()}${broken === undefined ? "" : `, broken: ${broken}`}\n\n`
  );
}

interface Story {
  /** The folder for the trees and the archive. */
  readonly folder: string;
  readonly broken: string | undefined;
  /** Called after the version before is up: failures from then on are faults of the upgrade. */
  readonly onBegun: () => void;
}

async function runStory(report: Report, version: Version, { folder, broken, onBegun }: Story): Promise<void> {
  const opening = openWorld(folder);
  let services: readonly Service[] = [];
  try {
    const { upgrade, newRoot } = await report.step(`${version.number} is up`, async () => {
      const newTree = broken === undefined ? THIS_TREE : makeBrokenTree(BROKEN_UPGRADES[broken]!, folder);
      const [world, oldTree, root] = await Promise.all([
        opening,
        makeTreeOf(version.commit, folder),
        newTree,
      ]);
      const [before, after] = await Promise.all([
        prepareService(world, version.number, oldTree.root),
        prepareService(world, "this version", root),
      ]);
      services = [before, after];
      const made: Upgrade = { world, before, after, ledger: openLedger(), chats: openChats() };
      await startBefore(made, folder);
      return {
        seen: `its own database, objects and Temporal; packages ${oldTree.packages}`,
        result: { upgrade: made, newRoot: root },
      };
    });
    onBegun();
    const underWay = await replaceVersion(report, upgrade);
    await checkPromises(report, upgrade, underWay, newRoot);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    const world = await opening.catch(() => undefined);
    await world?.close();
  }
}

async function startBefore({ world, before, chats }: Upgrade, folder: string): Promise<void> {
  await before.cli("migrate");
  const tenants = join(folder, "tenants.yaml");
  await writeFile(tenants, provisionFile(TENANTS));
  await Promise.all([before.cli("provision", tenants), before.startApi(), before.startWorker()]);
  scriptChats(chats, world.provider);
  await chatIsReady(chats, before.url);
}

/**
 * Runs the upgrade from the first work under way until only this version is left and has nothing more to do.
 */
async function replaceVersion(report: Report, upgrade: Upgrade): Promise<UnderWay> {
  const { before, after, ledger } = upgrade;
  const underWay = await report.step("it has work of every kind under way", async () => {
    const result = await leaveUnderWay(upgrade, await settle(upgrade));
    return { seen: `${ledger.kept.size} documents kept, ${ledger.gone.size} deleted`, result };
  });
  const watches = [watchApi(before.url)];
  try {
    await report.step("this version starts beside it", () => startBeside(upgrade));
    await watches[0]!.stop();
    watches.push(watchApi(after.url));
    await report.step(`${before.name} starts again, on the newer schema`, () => restartBefore(upgrade));
    watches.push(watchApi(before.url));
    await report.step("both take work, and go on with the other's", () => workInBoth(upgrade, underWay));
    await watches[2]!.stop();
    await report.step(`${before.name} ends in the middle of work`, () => endBefore(upgrade));
    await report.promise("nothing is lost, doubled or stuck; integrity 0", () => allHasEnded(upgrade));
  } finally {
    await Promise.all(watches.map((watch) => watch.stop()));
  }
  await report.promise("a version that runs refuses nothing", () => nothingWasRefused(watches));
  return underWay;
}

async function checkPromises(
  report: Report,
  upgrade: Upgrade,
  underWay: UnderWay,
  newRoot: string,
): Promise<void> {
  await report.promise("every document is readable", () => documentsAreReadable(upgrade));
  await report.promise("every chat is answered once", () => chatsAreAnsweredOnce(upgrade, underWay));
  await report.promise("batches are complete", () => batchesAreComplete(upgrade, underWay));
  await report.promise("events of its changes are in the log", () => eventsAreInTheLog(upgrade));
  await report.promise("every worker knew its tasks", () => workersKnewTheirTasks(upgrade));
  await report.promise("every workflow ended in order and replays", () => historiesReplay(upgrade, newRoot));
  await report.promise("the export is whole", () => archiveIsWhole(upgrade, underWay));
  await report.promise("and still nothing is lost, doubled or stuck", () => allHasEnded(upgrade));
}
