/** Objects in a bucket of S3: what every store promises, on a server that speaks it. */
import { createS3Store } from "../../src/storage/s3.ts";
import { type Opened, describeObjectStore } from "../support/object-store-promises.ts";
import { hasSeaweedfs, startSeaweedfs } from "../support/seaweedfs.ts";

async function openS3(): Promise<Opened> {
  const { bucket, endpoint, stop } = await startSeaweedfs();
  return { store: createS3Store({ bucket, endpoint, forcePathStyle: true }), close: stop };
}

describeObjectStore("s3", openS3, { isHere: hasSeaweedfs });
