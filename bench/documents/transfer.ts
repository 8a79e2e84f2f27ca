/** Measures the upload and download of a large file through the API: seconds, and memory of its process. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { loadavg } from "node:os";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { Command } from "commander";
import setup from "../../test/support/run/global-setup.ts";
import { findGo, startFakeGcs } from "../../test/support/servers/fake-gcs.ts";
import { sharedSeaweedfs } from "../../test/support/servers/seaweedfs.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { peakOf, residentMegabytes } from "../process-tree.ts";
import { machine, say } from "../report.ts";

interface Options {
  readonly megabytes: string;
  readonly gigabytes?: string;
  readonly store: string;
}

interface Place {
  /** Its name in the printed conditions. */
  readonly title: string;
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** The stores that can be chosen; each bucket is on a server on this machine. */
const STORES: Readonly<Record<string, () => Promise<Place>>> = {
  directory: () => Promise.resolve({ title: "a folder", env: {}, stop: () => Promise.resolve() }),
  async s3() {
    const { env, stop } = await sharedSeaweedfs();
    return { title: "SeaweedFS by S3", env, stop };
  },
  async gcs() {
    const go = await findGo();
    if (go === undefined)
      throw new Error("the stand-in for Google Cloud Storage is built by Go, which is not here");
    const { origin, bucket, stop } = await startFakeGcs(go);
    return { title: "fake-gcs-server", env: { GCS_BUCKET: bucket, STORAGE_EMULATOR_HOST: origin }, stop };
  },
};

const MEGABYTE = 1_000_000;
const BOUNDARY = "holdfast-bench";
const PATH = "bench/large.bin";

async function* file(megabytes: number, piece: Buffer): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < megabytes; sent += 1) yield piece;
}

async function* form(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="path"\r\n\r\nbench\r\n`);
  yield Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\n",
  );
  yield* content;
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
}

async function send(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: AsyncIterable<Buffer>,
): Promise<IncomingMessage> {
  const sent = request(url, { method, headers: { authorization: `Bearer ${KEYS.editor}`, ...headers } });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  if (body === undefined) sent.end();
  else Readable.from(body, { objectMode: false }).pipe(sent);
  return (await answered)[0];
}

async function uploadFile(stack: Stack, megabytes: number, piece: Buffer): Promise<void> {
  const answer = await send(
    `${stack.url}/v1/spaces/${SPACES.research}/data/upload`,
    "POST",
    { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
    form(file(megabytes, piece)),
  );
  if (answer.statusCode !== 201)
    throw new Error(`the upload answered ${answer.statusCode}: ${JSON.stringify(await json(answer))}`);
  answer.resume();
}

/** @returns the SHA-256 of the content */
async function download(stack: Stack): Promise<string> {
  const answer = await send(
    `${stack.url}/v1/spaces/${SPACES.research}/data/download?path=${encodeURIComponent(PATH)}`,
    "GET",
    {},
  );
  const hash = createHash("sha256");
  for await (const piece of answer) hash.update(piece as Buffer);
  return hash.digest("hex");
}

async function run(options: Options): Promise<void> {
  const megabytes =
    options.gigabytes === undefined ? Number(options.megabytes) : 1_000 * Number(options.gigabytes);
  const open = STORES[options.store];
  if (open === undefined) throw new Error(`Stores: ${Object.keys(STORES).join(", ")}`);
  const stop = await setup();
  const place = await open();
  const stack = await startStack({
    env: { MAX_UPLOAD_BYTES: String(megabytes * MEGABYTE + 1), ...place.env },
    withoutWorker: true,
  });
  try {
    const piece = randomBytes(MEGABYTE);
    const expected = createHash("sha256");
    for await (const part of file(megabytes, piece)) expected.update(part);
    const pid = stack.api.child.pid!;
    say(
      `${machine()}; objects in ${place.title}, encrypted; everything on this machine; ` +
        `load ${loadavg()[0]!.toFixed(1)}`,
    );
    say(
      "| one file | MB | seconds | MB/s | API process before (MB) | its peak (MB) |\n" +
        "|---|---|---|---|---|---|",
    );
    for (const [name, work] of Object.entries({
      upload: () => uploadFile(stack, megabytes, piece),
      download: () => download(stack),
    })) {
      const before = await residentMegabytes(pid);
      const peak = peakOf(() => Promise.resolve([pid]));
      const started = performance.now();
      const sum = await work();
      const seconds = (performance.now() - started) / 1_000;
      say(
        `| ${name} | ${megabytes} | ${seconds.toFixed(1)} | ${(megabytes / seconds).toFixed(0)} | ` +
          `${before} | ${peak.stop()} |`,
      );
      if (sum !== undefined && sum !== expected.digest("hex"))
        throw new Error("what came back is not what was sent");
    }
  } finally {
    await stack.close();
    await place.stop();
    await stop();
  }
}

await new Command("bench:transfer")
  .description("A large file up and down through the API.")
  .option("--megabytes <number>", "of the file", "1000")
  .option("--gigabytes <number>", "instead of megabytes")
  .option("--store <name>", `where objects are kept: ${Object.keys(STORES).join(", ")}`, "directory")
  .action(run)
  .parseAsync();
