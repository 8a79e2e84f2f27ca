/** Objects in a bucket: what every store promises, on an emulator of Google Cloud Storage that Go builds. */
import { createGcsStore } from "../../../src/storage/stores/gcs.ts";
import { NO_GO, findGo, startFakeGcs } from "../../support/servers/fake-gcs.ts";
import { type Opened, describeObjectStore } from "../../support/servers/object-store-promises.ts";

const go = await findGo();

async function openGcs(): Promise<Opened> {
  const emulator = await startFakeGcs(go!);
  return {
    store: createGcsStore({ bucket: emulator.bucket, emulatorHost: emulator.origin }),
    close: () => emulator.stop(),
  };
}

describeObjectStore("gcs", openGcs, { missing: go === undefined ? NO_GO : undefined });
