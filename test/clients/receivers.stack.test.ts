/** Runs the receivers in clients/receiver with messages that the official JavaScript library signs. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../src/embedded/ports.ts";
import { pythonEnvironment } from "../support/clients/python-client.ts";
import { until } from "../support/until.ts";

const FOLDER = join(import.meta.dirname, "../../clients/receiver");
const LIBRARY = "standardwebhooks==1.1.0";
/** Long, because the first run on a machine installs the library. */
const SETUP_MS = 5 * 60_000;
const SECRET = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const DOCUMENT = "01900000-0000-7000-8000-00000000000d";

const COMMANDS = {
  "receiver.ts": async () => ({ command: process.execPath, env: {} }),
  "receiver.py": async () => ({
    command: "python3",
    env: await pythonEnvironment({
      cacheDir: process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "",
      library: LIBRARY,
    }),
  }),
};

/** An event of the document, which happened in this minute. */
const event = (id: string, type: string, minute: number) => ({
  id,
  type,
  occurred_at: `2026-11-23T10:0${minute}:00.000Z`,
  resource: { type: "document", id: DOCUMENT },
  data: {},
});

describe.each(Object.keys(COMMANDS) as (keyof typeof COMMANDS)[])("%s", (script) => {
  let folder: string;
  let port: number;
  let receiver: ChildProcess;
  let printed: string;

  const start = async (): Promise<void> => {
    const { command, env } = await COMMANDS[script]();
    receiver = spawn(command, [join(FOLDER, script)], {
      env: {
        PATH: process.env["PATH"],
        ...env,
        WEBHOOK_SECRET: SECRET,
        PORT: String(port),
        INBOX: join(folder, "inbox.sqlite"),
      },
    });
    receiver.stdout!.on("data", (text: Buffer) => (printed += text.toString()));
    await until("the receiver answers", async () => (await deliver({}, { "webhook-id": "" })) === 400);
  };
  const stop = async (): Promise<void> => {
    const ended = once(receiver, "exit");
    receiver.kill("SIGKILL");
    await ended;
  };
  const deliver = async (
    { id = "x", ...rest }: { id?: string },
    headers: Record<string, string> = {},
    secret = SECRET,
  ): Promise<number> => {
    const now = new Date();
    const body = JSON.stringify({ id, ...rest });
    const { status } = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      body,
      headers: {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
        "webhook-signature": new Webhook(secret).sign(id, now, body),
        ...headers,
      },
    });
    return status;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-receiver-"));
    port = await freePort();
    printed = "";
    await start();
  }, SETUP_MS);
  afterEach(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("takes each message once and passes over what comes late", async () => {
    expect(await deliver(event("1", "document.uploaded", 1))).toBe(204);
    expect(await deliver(event("3", "document.completed", 3))).toBe(204);
    expect(await deliver(event("2", "document.waiting", 2))).toBe(204);
    expect(await deliver(event("3", "document.completed", 3))).toBe(204);
    expect(await deliver(event("4", "document.deleted", 4))).toBe(204);
    await until("the last message is handled", () => printed.includes("document.deleted"));
    expect(printed.trim().split("\n")).toEqual(
      ["uploaded", "completed", "deleted"].map((what) => `document.${what} ${DOCUMENT}`),
    );
  });

  test("refuses what is not signed with its secret, and what is too large", async () => {
    expect(await deliver(event("1", "document.uploaded", 1), {}, OTHER)).toBe(400);
    expect(await deliver(event("1", "document.uploaded", 1), { "webhook-timestamp": "1" })).toBe(400);
    const large = { ...event("1", "document.uploaded", 1), data: "x".repeat(100_000) };
    expect(await deliver(large).catch(() => 400)).toBe(400);
    expect(await deliver(event("2", "document.deleted", 2))).toBe(204);
    await until("the good message is handled", () => printed.includes("document.deleted"));
    expect(printed).not.toContain("uploaded");
  });

  test("knows after a crash what it answered", async () => {
    expect(await deliver(event("1", "document.uploaded", 1))).toBe(204);
    expect(await deliver(event("2", "document.completed", 2))).toBe(204);
    await until("the second is begun, so that the first is done", () => printed.includes("completed"));
    await stop();
    printed = "";
    await start();
    expect(await deliver(event("1", "document.uploaded", 1))).toBe(204);
    expect(await deliver(event("3", "document.deleted", 3))).toBe(204);
    await until("the next one is handled", () => printed.includes("document.deleted"));
    expect(printed).not.toContain("uploaded");
  });
});
