/** What each part of the API does while the object store is down. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/embedded/ports.ts";
import { fileForm } from "../support/clients/client.ts";
import {
  type DependencyCalls,
  dependencyCalls,
  expectAllUnavailable,
  TEXT,
} from "../support/clients/dependency-calls.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";

const { stack, tenants } = onKillableStack();
let calls: DependencyCalls;

beforeAll(async () => {
  calls = dependencyCalls(stack, tenants);
  await calls.chatIsReady();
});

/** Puts a file in place of the folder of objects. */
async function breakFolder(): Promise<() => Promise<void>> {
  const folder = join(stack.dataDir, "objects");
  await rename(folder, `${folder}-away`);
  await writeFile(folder, "");
  return async () => {
    await rm(folder);
    await rename(`${folder}-away`, folder);
  };
}

/** Takes the bucket away from the API only, so that accepted work can be processed. */
async function loseBucket(): Promise<() => Promise<void>> {
  await restartApi({ GCS_BUCKET: "objects", STORAGE_EMULATOR_HOST: `http://127.0.0.1:${await freePort()}` });
  return restartApi;
}

async function restartApi(extra: Record<string, string> = {}): Promise<void> {
  await stack.api.kill("SIGTERM");
  await stack.restartApi(extra);
  await calls.chatIsReady();
}

const kinds: readonly (readonly [string, () => Promise<() => Promise<void>>])[] = [
  ["a folder that cannot be used", breakFolder],
  ["a bucket that cannot be reached", loseBucket],
];

test.each(kinds)(
  "%s: uploads and downloads are 503, all else is accepted or works",
  async (_kind, takeAway) => {
    const documents = { kept: await calls.completed(), deleted: await calls.completed() };
    const giveBack = await takeAway();
    let work;
    try {
      await expectAllUnavailable({
        upload: calls.put(),
        "upload to a path": calls.send(
          "POST",
          `/spaces/${tenants.spaces.research}/data/upload`,
          fileForm(TEXT, "a.md", { path: "" }),
        ),
        download: calls.download(documents.kept),
      });
      await calls.expectReadsWork(documents.kept);
      expect((await calls.chat()).status).toBe(200);
      work = await calls.acceptWork(documents, documents.kept);
    } finally {
      await giveBack();
    }
    await calls.expectDone(work);
    expect((await calls.download(documents.kept)).body).toBe(TEXT);
  },
  120_000,
);
