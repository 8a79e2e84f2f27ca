/** Tests that a backup onto the disk of the service leaves the room that the service needs. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runPostgresTool } from "../../src/backup/postgres-tools.ts";
import { roomBeside, whileRoom } from "../../src/backup/room.ts";
import { insufficientStorage } from "../../src/storage/disk-space.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "room-"));
});
afterEach(() => rm(folder, { recursive: true }));

const disk = {
  left: 0,
  assertRoom: () => (disk.left-- > 0 ? Promise.resolve() : Promise.reject(insufficientStorage())),
};

test("pg_dump is ended once too little is free, and the reason is told in a line", async () => {
  await writeFile(join(folder, "pg_dump"), "#!/bin/sh\nexec sleep 60\n");
  await chmod(join(folder, "pg_dump"), 0o700);
  disk.left = 3;
  const assertRoom = await roomBeside(folder, folder, disk);
  const dumping = whileRoom(
    assertRoom,
    (signal) =>
      runPostgresTool(
        { folder, major: 18 },
        { name: "pg_dump", args: [], url: "postgres://127.0.0.1:1/none", signal },
      ),
    10,
  );
  await expect(dumping).rejects.toThrow(
    new RegExp(
      "^The backup would leave too little free on the disk of DATA_DIR" +
        ".* \\(MIN_FREE_DISK_BYTES\\): name a folder on another disk\\.$",
    ),
  );
});

test("a disk that the service has nothing on may be filled", async () => {
  disk.left = 0;
  await expect((await roomBeside(folder, "/proc", disk))()).resolves.toBeUndefined();
  await expect((await roomBeside(folder, folder, disk))()).rejects.toThrow("MIN_FREE_DISK_BYTES");
});
