/** A whole Holdfast whose objects are in a bucket of S3: a file's way from its upload to its end. */
import { GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig, requireReal } from "../../src/config/config.ts";
import { openSharedDeps } from "../../src/deps.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { runCli } from "../support/stack/processes.ts";
import { type Seaweedfs, missingSeaweedfs, sharedSeaweedfs } from "../support/servers/seaweedfs.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { ACME, TENANTS } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";
import { unless } from "../support/run/unless.ts";

const TEXT = "# Capybaras\n\nCapybaras are the largest rodents that live today.";

describe("a service on S3", unless(missingSeaweedfs), () => {
  let seaweedfs: Seaweedfs;
  let stack: Stack;
  let client: S3Client;

  beforeAll(async () => {
    seaweedfs = await sharedSeaweedfs();
    client = new S3Client({ endpoint: seaweedfs.endpoint, region: "us-east-1", forcePathStyle: true });
    stack = await startStack({ env: { ...seaweedfs.env } });
  });
  afterAll(async () => {
    await stack.close();
    client.destroy();
  });

  const objects = async (): Promise<string[]> => {
    const { Contents = [] } = await client.send(
      new ListObjectsV2Command({ Bucket: seaweedfs.bucket, Prefix: ACME }),
    );
    return Contents.map(({ Key }) => Key!);
  };

  test("takes a file, finds it, gives it back, and leaves nothing of it once it is deleted", async () => {
    const documents = documentClient({ stack, tenants: TENANTS });
    const { id, file_path: path, processing_state: state } = await documents.put(TEXT, "capybaras.md");
    expect(state.pipeline_status).toBe("completed");
    const file = (verb: string): string =>
      `/spaces/${TENANTS.spaces.research}/data/${verb}?path=${encodeURIComponent(path)}`;
    expect((await documents.hits(id, "largest rodents")).results).toHaveLength(1);
    expect((await documents.editor("GET", file("download"))).body).toBe(TEXT);

    const [name] = await objects();
    const stored = await (
      await client.send(new GetObjectCommand({ Bucket: seaweedfs.bucket, Key: name }))
    ).Body!.transformToString("latin1");
    expect(stored).not.toContain("Capybaras");
    expect(await runCli(["integrity"], stack.env)).toMatch(/are whole: nothing is missing/);

    expect((await documents.editor("DELETE", file("files"))).status).toBe(204);
    await until("the object is gone", async () => (await objects()).length === 0);
  });

  test("says in its readiness where objects are", async () => {
    const { dependencies } = (await (await fetch(`${stack.url}/health/ready`)).json()) as {
      dependencies: unknown[];
    };
    expect(dependencies).toContainEqual(
      expect.objectContaining({ name: "object_store", kind: "s3", ok: true }),
    );
  });

  test("is not started on a bucket that cannot be used", async () => {
    const config = requireReal(loadConfig({ ...stack.env, S3_BUCKET: "missing" }));
    await expect(openSharedDeps(config, "test")).rejects.toThrow(
      /The settings are not valid:\n {2}S3_BUCKET names a bucket that does not exist: missing$/,
    );
  });
});
