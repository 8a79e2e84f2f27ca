/** What an S3-compatible store must show before anything is written to it, and the message if it does not. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { freePort } from "../../../src/embedded/ports.ts";
import type { ObjectStore } from "../../../src/storage/object-store.ts";
import { createS3Store } from "../../../src/storage/stores/s3.ts";
import type { S3Settings } from "../../../src/storage/stores/s3-client.ts";
import {
  type Asked,
  type FaultyConnection,
  startFaultyConnection,
} from "../../support/servers/faulty-connection.ts";
import { newName, pieces, read } from "../../support/servers/object-store-promises.ts";
import {
  STRANGER,
  type Seaweedfs,
  credentialsOf,
  missingSeaweedfs,
  sharedSeaweedfs,
} from "../../support/servers/seaweedfs.ts";
import { unless } from "../../support/run/unless.ts";

const XML_OF_SUCCESS =
  '<CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
  '<ETag>"0-1"</ETag></CompleteMultipartUploadResult>';
const UNSET = {
  AWS_ACCESS_KEY_ID: undefined,
  AWS_SECRET_ACCESS_KEY: undefined,
  AWS_PROFILE: undefined,
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_CONFIG_FILE: "/dev/null",
  AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
};

describe("the probe of a store that speaks S3", unless(missingSeaweedfs), () => {
  let seaweedfs: Seaweedfs;
  let connection: FaultyConnection;
  const restore: Record<string, string | undefined> = {};

  beforeAll(async () => {
    seaweedfs = await sharedSeaweedfs();
    connection = await startFaultyConnection(seaweedfs.endpoint);
  });
  afterEach(() => {
    connection.heal();
    for (const [name, value] of Object.entries(restore)) {
      setVariable(name, value);
      delete restore[name];
    }
  });
  afterAll(() => connection.close());

  const setVariable = (name: string, value: string | undefined): void => {
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  };
  const setEnvironment = (values: Record<string, string | undefined>): void => {
    for (const [name, value] of Object.entries(values)) {
      restore[name] = process.env[name];
      setVariable(name, value);
    }
  };
  const open = (settings: Partial<S3Settings> = {}): ObjectStore =>
    createS3Store({
      bucket: seaweedfs.bucket,
      endpoint: connection.origin,
      forcePathStyle: true,
      ...settings,
    });

  const probes = async (): Promise<number> => {
    const client = new S3Client({ endpoint: seaweedfs.endpoint, region: "us-east-1", forcePathStyle: true });
    const { Contents = [] } = await client.send(
      new ListObjectsV2Command({ Bucket: seaweedfs.bucket, Prefix: "probes/" }),
    );
    client.destroy();
    return Contents.length;
  };

  test("a store that keeps its promises passes, and nothing of the probe stays", async () => {
    await open().prove!();
    expect(await probes()).toBe(0);
  });

  test("nothing of the probe stays where a right is missing", async () => {
    connection.failFirst(
      Infinity,
      { status: 403 },
      ({ method, url }) => method === "GET" && url.includes("probes/"),
    );
    for (let start = 0; start < 3; start += 1)
      await expect(open().prove!()).rejects.toThrow(
        /^S3_BUCKET cannot be used: the right s3:GetObject on objects is missing/,
      );
    expect(await probes()).toBe(0);
  });

  const isWrite = ({ method, headers }: Asked, name: string): boolean =>
    method === "PUT" && headers[name] !== undefined;
  test.each([
    [
      "a second PutObject with If-None-Match",
      { status: 200, headers: { etag: '"0"' } },
      (asked: Asked) => isWrite(asked, "if-none-match") && !("x-amz-checksum-crc32" in asked.headers),
    ],
    [
      "a PutObject with another If-Match",
      { status: 200, headers: { etag: '"0"' } },
      (asked: Asked) => isWrite(asked, "if-match"),
    ],
    [
      "a PutObject with a wrong checksum",
      { status: 200, headers: { etag: '"0"' } },
      (asked: Asked) =>
        isWrite(asked, "x-amz-checksum-crc32") &&
        !("if-none-match" in asked.headers) &&
        !asked.url.includes("partNumber"),
    ],
    [
      "a CompleteMultipartUpload with If-None-Match",
      { status: 200, body: XML_OF_SUCCESS },
      ({ method, headers }: Asked) => method === "POST" && "if-none-match" in headers,
    ],
  ] as const)("a store that does not refuse %s is refused itself", async (what, fault, matches) => {
    const seen = connection.failFirst(Infinity, fault, matches);
    const store = open();
    await expect(store.prove!()).rejects.toThrow(
      new RegExp(`^S3_BUCKET is in a store that Holdfast cannot use: it did not refuse ${what}[^\n]*$`),
    );
    expect(seen()).toBeGreaterThan(0);
    await expect(store.put(newName(), pieces(Buffer.from("x")), { ifAbsent: true })).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });

  test.each([
    [
      "a bucket that is not there",
      { bucket: "missing" },
      {},
      /^S3_BUCKET names a bucket that does not exist: missing$/,
    ],
    [
      "credentials without rights",
      {},
      credentialsOf(STRANGER),
      /^S3_BUCKET cannot be used: the right s3:ListBucket on objects is missing \(AccessDenied\)$/,
    ],
    [
      "a wrong secret",
      {},
      { AWS_SECRET_ACCESS_KEY: "wrong" },
      /^AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are refused by the store \(SignatureDoesNotMatch\)$/,
    ],
    [
      "no credentials",
      {},
      UNSET,
      new RegExp(
        "^S3_BUCKET needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
          "or give the machine a role$",
      ),
    ],
    [
      "no region",
      { endpoint: undefined },
      { ...UNSET, AWS_REGION: undefined },
      /^S3_BUCKET needs a region: set S3_REGION$/,
    ],
  ] as const)("%s is said in one line", async (_what, settings, environment, line) => {
    setEnvironment(environment);
    await expect(open(settings).prove!()).rejects.toThrow(line);
  });

  test("one line says that a bucket is in another region, or a store has no multipart uploads", async () => {
    connection.failFirst(
      1,
      {
        status: 301,
        headers: { "x-amz-bucket-region": "eu-west-1" },
        body: "<Error><Code>PermanentRedirect</Code></Error>",
      },
      () => true,
    );
    await expect(open().prove!()).rejects.toThrow(
      /^S3_REGION must be eu-west-1, where the bucket objects is$/,
    );
    connection.failFirst(
      1,
      { status: 501, body: "<Error><Code>NotImplemented</Code></Error>" },
      ({ method, url }) => method === "POST" && url.includes("uploads"),
    );
    await expect(open().prove!()).rejects.toThrow(
      new RegExp(
        "^S3_BUCKET is in a store without what Holdfast needs: " +
          "s3:PutObject was answered with 501 NotImplemented$",
      ),
    );
  });

  test("a store that is away at first is probed before its first write", async () => {
    const port = await freePort();
    const store = open({ endpoint: `http://127.0.0.1:${port}` });
    await expect(store.prove!()).rejects.toMatchObject({ code: "storage_unavailable", class: "outage" });
    const back = await startFaultyConnection(seaweedfs.endpoint, port);
    const seen = back.failFirst(0, { status: 500 }, (asked) => isWrite(asked, "if-match"));
    const name = newName();
    await store.put(name, pieces(Buffer.from("kept")), { ifAbsent: true });
    expect((await read(store, name)).toString()).toBe("kept");
    await store.put(newName(), pieces(Buffer.from("another")), { ifAbsent: true });
    expect(seen()).toBe(1);
    await back.close();
  });
});
