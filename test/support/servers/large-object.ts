/**
 * Puts one generated object into an S3 bucket, reads it back and prints the result as JSON: `node
 * large-object.ts MEGABYTES`.
 */
import { createHash, randomUUID } from "node:crypto";
import { objectName } from "../../../src/storage/object-store.ts";
import { createS3Store } from "../../../src/storage/stores/s3.ts";

const MEGABYTE = 1_000_000;
/** Like the pieces that storage passes on, each has memory of its own, which the store may release. */
const PIECE_BYTES = 62_500;

const { S3_BUCKET: bucket = "", S3_ENDPOINT: endpoint } = process.env;
const store = createS3Store({ bucket, endpoint, forcePathStyle: true });
const megabytes = Number(process.argv[2]);
const name = objectName(randomUUID(), randomUUID());

async function* generated(sum: (piece: Uint8Array) => void): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < (megabytes * MEGABYTE) / PIECE_BYTES; piece += 1) {
    const bytes = Buffer.allocUnsafeSlow(PIECE_BYTES).fill(piece % 251);
    bytes.writeUInt32LE(piece);
    sum(bytes);
    yield bytes;
  }
}

await store.prove!();
const [sent, came] = [createHash("sha256"), createHash("sha256")];
const before = process.resourceUsage().maxRSS;
const { bytes } = await store.put(
  name,
  generated((piece) => void sent.update(piece)),
  { ifAbsent: true, ownsPieces: true },
);
for await (const piece of await store.get(name)) came.update(piece as Buffer);
const grewMegabytes = Math.round((process.resourceUsage().maxRSS - before) / 1024);
await store.delete(name);
process.stdout.write(
  JSON.stringify({ bytes, isSame: sent.digest("hex") === came.digest("hex"), grewMegabytes }),
);
process.exit(0);
