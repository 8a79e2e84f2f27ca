/** Objects in a bucket of S3: what every store promises, on an S3-compatible server. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createS3Store } from "../../../src/storage/stores/s3.ts";
import { type Opened, describeObjectStore } from "../../support/servers/object-store-promises.ts";
import { missingSeaweedfs, sharedSeaweedfs } from "../../support/servers/seaweedfs.ts";
import { unless } from "../../support/run/unless.ts";

async function openS3(): Promise<Opened> {
  const { bucket, endpoint } = await sharedSeaweedfs();
  return { store: createS3Store({ bucket, endpoint, forcePathStyle: true }), close: async () => {} };
}

describeObjectStore("s3", openS3, { missing: missingSeaweedfs });

const run = promisify(execFile);

describe("a large object in a bucket of S3", unless(missingSeaweedfs), () => {
  test("of 300 MB goes up and down in the memory of a few parts", async () => {
    const { env } = await sharedSeaweedfs();
    const { stdout } = await run(
      process.execPath,
      [join(import.meta.dirname, "../../support/servers/large-object.ts"), "300"],
      { env: { ...process.env, ...env } },
    );
    const { bytes, isSame, grewMegabytes } = JSON.parse(stdout);
    expect({ bytes, isSame }).toEqual({ bytes: 300_000_000, isSame: true });
    expect(grewMegabytes).toBeLessThan(150);
  });
});
