/**
 * `npm run proxies`: runs nginx, Caddy and HAProxy with the files of deploy/proxy in front of a Holdfast, and
 * tries what docs/reverse-proxies.md promises. Exits with 1 if a promise is not kept.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/embedded/ports.ts";
import { startParts } from "../support/run/global-setup.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { TENANTS } from "../support/tenants/tenants.ts";
import { until } from "../support/until.ts";
import { PROXIES, type ProxyKind, certify, startProgram } from "./proxies.ts";
import { fetchWhole, formOf, open } from "./requests.ts";

const { keys, spaces, agents } = TENANTS;
/** More than nginx accepts by default. */
const LARGE_BYTES = 5 * 1024 * 1024;
/** More than the API accepts, and less than the proxies pass on. */
const TOO_LARGE_BYTES = 9 * 1024 * 1024;
const MAX_UPLOAD_BYTES = 8 * 1024 * 1024;
const FORGED_ADDRESS = "203.0.113.9";
const bearer = { authorization: `Bearer ${keys.editor}` };
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The name of the error, and what was compared. */
const describe = (error: unknown): string => (error instanceof Error ? String(error) : "no error");

type Trial = (url: string, stack: Stack) => Promise<void>;

const upload = async (url: string, bytes: number) => {
  const form = await formOf(
    { space_id: spaces.research },
    { name: "large.txt", content: Buffer.alloc(bytes, "capybara\n") },
  );
  return fetchWhole(`${url}/v1/data/upload`, { ...form, headers: { ...form.headers, ...bearer } });
};

const TRIALS: Readonly<Record<string, Trial>> = {
  async "a request and its answer"(url) {
    const { status, body } = await fetchWhole(`${url}/v1/models`, { headers: bearer });
    assert.equal(status, 200);
    assert.ok(body.includes(agents.analyst));
  },
  async "a large upload"(url) {
    assert.equal((await upload(url, LARGE_BYTES)).status, 201);
  },
  async "an upload above MAX_UPLOAD_BYTES is refused in the API's words"(url) {
    const { status, body } = await upload(url, TOO_LARGE_BYTES);
    assert.equal(status, 400);
    assert.match(body, /exceeds maximum allowed/);
  },
  async "a chat's first piece comes before its last is made"(url, stack) {
    let release: () => void = () => undefined;
    const heldBy = new Promise<void>((resolve) => (release = resolve));
    stack.provider.reply({ pieces: ["first ", "last"], heldBy });
    const body = JSON.stringify({
      model: agents.analyst,
      stream: true,
      messages: [{ role: "user", content: "hi" }],
    });
    const answer = await open(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...bearer, "content-type": "application/json" },
      body,
    });
    let read = "";
    try {
      for await (const piece of answer as AsyncIterable<Buffer>) {
        read += piece.toString();
        // A proxy that buffers the answer would never pass on the first piece, because the last waits for it.
        if (read.includes("first")) release();
      }
    } finally {
      release();
    }
    assert.match(read, /first[\s\S]*last[\s\S]*\[DONE\]/);
  },
  async "the address of a caller is what the proxy saw, whatever the caller says"(url, stack) {
    const { owner } = stack.database.db;
    await owner.query("update api_keys set last_used_ip = null, last_used_at = null");
    await fetchWhole(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${keys.viewer}`, "x-forwarded-for": FORGED_ADDRESS },
    });
    const seen = async (): Promise<string | undefined> => {
      const { rows } = await owner.query<{ ip: string }>(
        `select host(last_used_ip) as ip
         from   api_keys
         where  name = 'viewer'
         and    last_used_ip is not null`,
      );
      return rows[0]?.ip;
    };
    await until("the key's last address is noted", async () => (await seen()) !== undefined);
    assert.equal(await seen(), "127.0.0.1");
  },
};

async function tryProxy(kind: ProxyKind, stack: Stack, folder: string): Promise<number> {
  const port = await freePort();
  const program = await startProgram(kind, { folder, port, apiPort: Number(stack.env["PORT"]) });
  const url = `https://localhost:${port}`;
  let failed = 0;
  try {
    const isUp = () =>
      fetchWhole(`${url}/health/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await until(
      `${kind.name} is up`,
      async () => program.child.exitCode !== null || program.child.signalCode !== null || (await isUp()),
    );
    for (const [name, trial] of Object.entries(TRIALS)) {
      const error = await trial(url, stack).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      print(`${error === undefined ? "ok  " : "FAIL"}  ${kind.name}: ${name}`);
      if (error !== undefined) {
        print(describe(error));
        failed += 1;
      }
    }
  } catch (error) {
    failed += 1;
    print(`FAIL  ${kind.name}: ${String(error)}`);
  } finally {
    // Not SIGKILL: nginx would leave its workers behind.
    await program.kill("SIGTERM");
  }
  if (failed > 0) print(program.output());
  return failed;
}

const folder = await mkdtemp(join(tmpdir(), "holdfast-proxies-"));
const parts = await startParts({ isDurable: false });
let failed = 0;
try {
  await certify(folder);
  const stack = await startStack({
    env: { TRUSTED_PROXIES: "1", MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES) },
  });
  try {
    for (const kind of PROXIES) failed += await tryProxy(kind, stack, folder);
  } finally {
    await stack.close();
  }
} finally {
  await parts.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
