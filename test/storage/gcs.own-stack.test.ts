/** Objects in a bucket: what every store promises, on an emulator of Google Cloud Storage. */
import { test } from "vitest";
import { createGcsStore } from "../../src/storage/gcs.ts";
import { findGo, startFakeGcs } from "../support/fake-gcs.ts";
import { describeObjectStore } from "../support/object-store-promises.ts";

const go = await findGo();

if (go === undefined) test.skip("needs Go, which builds the emulator", () => undefined);
else {
  describeObjectStore("gcs", async () => {
    const emulator = await startFakeGcs(go);
    return { store: createGcsStore({ bucket: emulator.bucket, emulatorHost: emulator.origin }), close: () => emulator.stop() };
  });
}
