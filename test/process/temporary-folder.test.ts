import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTemporaryFolder } from "../../src/process/temporary-folder.ts";

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "holdfast-temporary-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const fail = (error: Error): never => {
  throw error;
};

/** The id of a process that has ended. */
const endedPid = (): number => spawnSync(process.execPath, ["--version"]).pid;

async function leaveFolder(name: string, ageHours = 0): Promise<string> {
  const path = join(dataDir, "tmp", name, "pages");
  await mkdir(path, { recursive: true });
  const at = new Date(Date.now() - ageHours * 3_600_000);
  for (const one of [path, dirname(path)]) await utimes(one, at, at);
  return name;
}

test("a second opener in a process leaves what the first one has", async () => {
  const first = await openTemporaryFolder(dataDir, fail);
  await writeFile(join(first.subfolder("pages"), "kept"), "");
  const second = await openTemporaryFolder(dataDir, fail);
  expect(await readdir(first.subfolder("pages"))).toEqual(["kept"]);
  await second.close();
  expect(await readdir(first.subfolder("pages"))).toEqual(["kept"]);
  await first.close();
  expect(await readdir(join(dataDir, "tmp"))).toEqual([]);
});

test("a folder that was removed is made again", async () => {
  const temporary = await openTemporaryFolder(dataDir, fail);
  await rm(join(dataDir, "tmp"), { recursive: true });
  expect(await readdir(temporary.subfolder("pages"))).toEqual([]);
  await temporary.close();
});

test("folders of processes that have ended are removed, and those of other hosts once nobody writes there", async () => {
  await leaveFolder(`${hostname()}-${endedPid()}-01234567`);
  await leaveFolder(`${hostname()}-${process.pid}-01234567`);
  await leaveFolder("other-host-1-01234567", 25);
  await leaveFolder("4711", 25);
  const kept = [
    await leaveFolder(`${hostname()}-${process.ppid}-01234567`),
    // Another container has the same process ids.
    await leaveFolder(`other-host-${endedPid()}-01234567`, 23),
  ];
  const temporary = await openTemporaryFolder(dataDir, fail);
  const own = basename(dirname(temporary.subfolder("pages")));
  expect((await readdir(join(dataDir, "tmp"))).toSorted()).toEqual([...kept, own].toSorted());
  await temporary.close();
});

test("a folder that cannot be written is told at the start, is an outage for who needs it, and heals", async () => {
  // Root may write anywhere, but not below a file.
  await writeFile(join(dataDir, "tmp"), "");
  const told: string[] = [];
  const temporary = await openTemporaryFolder(dataDir, (error) => told.push(error.message));
  expect(told).toEqual([expect.stringContaining(join(dataDir, "tmp"))]);
  expect(() => temporary.subfolder("pages")).toThrow(
    expect.objectContaining({ code: "storage_unavailable", status: 503 }),
  );
  await rm(join(dataDir, "tmp"));
  expect(await readdir(temporary.subfolder("pages"))).toEqual([]);
  await temporary.close();
});
