/** Runs `holdfast doctor` on a working service, and then with each fault really made. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../src/embedded/ports.ts";
import { runCli } from "../../support/stack/processes.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";
import { until } from "../../support/until.ts";

const { stack } = onSharedStack();

interface Line {
  readonly name: string;
  readonly state: string;
  readonly seen: string;
  readonly remedy?: string;
}

let folder: string;
/** Answers every request with 401. */
const refusing = createServer((_, response) =>
  response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"code":"invalid_api_key"}}'),
);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-doctor-"));
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  refusing.close();
  await rm(folder, { recursive: true, force: true });
});

/** @returns what it printed, whatever the exit code was */
async function doctor(
  env: Record<string, string>,
  ...options: string[]
): Promise<{ code: number; text: string }> {
  const whole = { ...stack.env, ...env };
  return runCli(["doctor", ...options], whole).then(
    (text) => ({ code: 0, text }),
    (error: Error) => ({
      code: Number(/ended with (\d)/.exec(error.message)?.[1]),
      text: error.message.slice(error.message.indexOf("\n") + 1),
    }),
  );
}

const linesOf = ({ text }: { text: string }): Map<string, Line> =>
  new Map((JSON.parse(text) as { checks: Line[] }).checks.map((line) => [line.name, line]));

test("all is fine where all is, in the same order each time, one line each", async () => {
  // The first upload would make it.
  await mkdir(join(stack.env["DATA_DIR"]!, "objects"), { recursive: true, mode: 0o700 });
  const { code, text } = await until("both processes ask for work", async () => {
    const seen = await doctor({});
    return !/task queues/.test(seen.text.replace(/^ok.*$/gm, "")) && seen;
  });
  expect([code, text.split("\n").filter((line) => line !== "" && !line.startsWith("ok  "))]).toEqual([0, []]);
  expect([...text.matchAll(/^ok {4}(.+?) {2,}/gm)].map(([, name]) => name)).toEqual([
    "settings",
    "Node",
    "Postgres",
    "pgvector",
    "migrations",
    "policies",
    "database logins",
    "master key",
    "clock of Postgres",
    "Temporal",
    "Temporal namespace",
    "search attributes",
    "task queues",
    "object store",
    "issuer",
    "clock of the issuer",
    "disk",
    "OCR data",
    "embedding model",
    "chat model",
  ]);
  expect((await doctor({}, "--no-provider-calls")).text).not.toContain("model");
});

test("faults that are there together are told apart, each with what to do, and no secret", async () => {
  await writeFile(join(folder, "objects"), "a file where a folder should be");
  const { code, text } = await doctor(
    {
      DATA_DIR: folder,
      MASTER_KEY: Buffer.alloc(32, 9).toString("base64"),
      TEMPORAL_NAMESPACE: "nowhere",
      OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
      OPENAI_BASE_URL: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/v1`,
      OPENAI_API_KEY: "sk-refused-1234567890",
    },
    "--json",
  );
  expect(code).toBe(1);
  const lines = linesOf({ text });
  const of = (name: string): string[] => [
    lines.get(name)!.state,
    lines.get(name)!.seen,
    lines.get(name)!.remedy ?? "",
  ];
  expect(of("master key")).toEqual([
    "fail",
    expect.stringContaining("cannot decrypt the instance's secrets"),
    expect.stringContaining("MASTER_KEY_PREVIOUS"),
  ]);
  expect(of("Temporal namespace")).toEqual([
    "fail",
    "namespace nowhere does not exist",
    expect.stringContaining("temporal operator namespace create --namespace nowhere"),
  ]);
  expect(of("task queues")).toEqual([
    "warn",
    "skipped: Temporal namespace fails",
    "fix Temporal namespace first",
  ]);
  expect(of("object store")).toEqual([
    "fail",
    expect.stringMatching(/^The object store is not available: .*(EEXIST|ENOTDIR)/),
    expect.stringContaining(join(folder, "objects")),
  ]);
  expect(of("issuer")).toEqual([
    "fail",
    expect.stringMatching(/not reachable.*ECONNREFUSED/),
    expect.stringContaining("OIDC_ISSUER"),
  ]);
  expect(of("embedding model")).toEqual([
    "fail",
    expect.stringContaining("401"),
    expect.stringContaining("OPENAI_API_KEY"),
  ]);
  expect(of("chat model")).toEqual([
    "fail",
    expect.stringContaining("401"),
    expect.stringContaining("OPENAI_API_KEY"),
  ]);
  expect([of("Postgres")[0], of("migrations")[0], of("Temporal")[0]]).toEqual(["ok", "ok", "ok"]);
  expect(text).not.toMatch(/sk-refused|CQkJCQkJ/);
});

test("Postgres and Temporal that are away cost a line each; a login that is refused is named", async () => {
  const postgres = await freePort();
  const temporal = await freePort();
  const away = new URL(stack.env["DATABASE_URL"]!);
  const urls = ["DATABASE_URL", "DATABASE_SYSTEM_URL", "DATABASE_MAINTENANCE_URL"].map((name) => [
    name,
    Object.assign(new URL(stack.env[name]!), { port: String(postgres) }).toString(),
  ]);
  const gone = await doctor(
    { ...Object.fromEntries(urls), TEMPORAL_ADDRESS: `127.0.0.1:${temporal}` },
    "--json",
    "--no-provider-calls",
  );
  expect([...linesOf(gone).values()].filter(({ state }) => state === "fail").map(({ name }) => name)).toEqual(
    ["Postgres", "Temporal"],
  );
  expect(linesOf(gone).get("Postgres")!.seen).toMatch(/ECONNREFUSED/);
  const wrong = Object.assign(new URL(stack.env["DATABASE_SYSTEM_URL"]!), {
    password: "not-the-password",
  }).toString();
  const refused = await doctor({ DATABASE_SYSTEM_URL: wrong }, "--json", "--no-provider-calls");
  expect(linesOf(refused).get("database logins")).toMatchObject({
    state: "fail",
    seen: expect.stringContaining("system is refused: password authentication failed"),
  });
  expect(gone.text + refused.text).not.toMatch(new RegExp(`not-the-password|${away.password}`));
});
