import { beforeAll, describe, expect, test } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { rawFileClient } from "../../../support/clients/raw-file-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();
const client = rawFileClient({ stack, tenants });
let tokens: { ada: string; vic: string };

beforeAll(async () => {
  tokens = {
    ada: await stack.issuer.token(tenants.subject("ada")),
    vic: await stack.issuer.token(tenants.subject("vic")),
  };
});

describe("path folders", () => {
  const make = (path: string, token = tokens.ada) =>
    call(stack.url, token, "POST", `${client.root}/folders`, { path });

  test("are made with tokens of the identity provider, not with keys, and cannot be read", async () => {
    expect(
      await call(stack.url, tenants.keys.owner, "POST", `${client.root}/folders`, { path: "f" }),
    ).toMatchObject({
      status: 401,
      body: { detail: "API key not accepted on this endpoint, use an identity-provider access token" },
    });
    const read = await call(stack.url, tokens.ada, "GET", `${client.root}/folders`);
    expect([read.status, read.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await make("f", tokens.vic)).toMatchObject({
      status: 403,
      body: { detail: "Permission denied: files:create" },
    });
  });

  test("are made once, and listed while they are empty", async () => {
    expect(await make("pf/inner/")).toMatchObject({ status: 201, body: { path: "pf/inner" } });
    expect(await make("pf/inner")).toMatchObject({ status: 201, body: { path: "pf/inner" } });
    expect(await client.list("pf")).toMatchObject([
      {
        path: "pf/inner",
        name: "inner",
        size: null,
        document_id: null,
        object_name: `spaces/${tenants.spaces.research}/data/pf/inner`,
      },
    ]);
    await client.put("pf/inner", "a.txt", "a");
    expect(await client.paths("pf")).toEqual(["pf/inner/a.txt"]);
    expect(await client.remove("pf/inner")).toMatchObject({
      status: 400,
      body: { detail: "The folder is not empty." },
    });
    await client.remove("pf/inner/a.txt");
    expect(await client.paths("pf")).toEqual(["pf/inner"]);
    expect((await client.get("pf/inner")).status).toBe(404);
    expect((await client.remove("pf/inner")).status).toBe(204);
    expect(await client.paths("pf")).toEqual([]);
  });

  test("and files never share a path, and move with what is in them", async () => {
    await make("shared");
    expect(await client.put("", "shared", "x")).toMatchObject({
      status: 400,
      body: { detail: "A folder already exists at this path." },
    });
    await client.put("", "taken", "x");
    expect(await make("taken")).toMatchObject({
      status: 400,
      body: { detail: "A file already exists at this path." },
    });
    await client.put("shared/deep", "a.txt", "a");
    await make("other");
    expect((await client.rename("shared", "other")).status).toBe(204);
    expect([await client.paths("shared"), await client.paths("other")]).toEqual([[], ["other/deep/a.txt"]]);
    await client.remove("other/deep/a.txt");
    expect(await client.paths("other")).toEqual(["other"]);
    expect((await make("../x")).status).toBe(422);
  });
});

test("nothing in all this was unexpected to the service", () => {
  expect(stack.api.output()).not.toContain("a request failed unexpectedly");
});
