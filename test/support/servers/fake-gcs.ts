/**
 * Starts fake-gcs-server, an emulator of Google Cloud Storage, which is built once by Go and kept in a cache
 * folder.
 */
import { execFile, spawn } from "node:child_process";
import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../../src/embedded/ports.ts";

const run = promisify(execFile);
const VERSION = "v1.56.1";
const START_MS = 15_000;
const BUILD_MS = 300_000;

export interface FakeGcs {
  /** The origin, without a path. */
  readonly origin: string;
  readonly bucket: string;
  stop(): Promise<void>;
}

export const NO_GO = "go, which builds the emulator of Google Cloud Storage, is not installed";

/** The Go command of this machine; undefined if there is none. */
export async function findGo(): Promise<string | undefined> {
  const found = await run("sh", ["-c", "command -v go || ls /usr/local/go/bin/go"]).catch(() => undefined);
  return found?.stdout.trim();
}

/**
 * Starts an emulator with one empty bucket on a free port. The first call on a machine builds it, which takes
 * up to two minutes.
 */
export async function startFakeGcs(go: string): Promise<FakeGcs> {
  const program = await build(go);
  const folder = await mkdtemp(join(tmpdir(), "fake-gcs-"));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const args = [
    "-scheme",
    "http",
    "-host",
    "127.0.0.1",
    "-port",
    String(port),
    "-external-url",
    origin,
    "-backend",
    "filesystem",
    "-filesystem-root",
    folder,
    "-log-level",
    "error",
  ];
  const child = spawn(program, args, { stdio: "ignore" });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await createBucket(origin, "objects");
  } catch (error) {
    await stop();
    throw error;
  }
  return { origin, bucket: "objects", stop };
}

async function build(go: string): Promise<string> {
  const folder = join(homedir(), ".cache", "holdfast", `fake-gcs-server-${VERSION}`);
  const program = join(folder, "fake-gcs-server");
  if (
    await access(program).then(
      () => true,
      () => false,
    )
  )
    return program;
  await mkdir(folder, { recursive: true });
  // Builds into a scratch folder and renames the result, so that test files that start at the same time never
  // run half a program.
  const scratch = await mkdtemp(join(folder, "build-"));
  // Disables optimizations: the program serves one test run, and building it takes longer than all its work.
  const flags = ["-gcflags=all=-N -l", "-ldflags=-s -w"];
  await run(
    "env",
    [
      `GOBIN=${scratch}`,
      "CGO_ENABLED=0",
      go,
      "install",
      ...flags,
      `github.com/fsouza/fake-gcs-server@${VERSION}`,
    ],
    { timeout: BUILD_MS },
  );
  await rename(join(scratch, "fake-gcs-server"), program);
  await rm(scratch, { recursive: true, force: true });
  return program;
}

async function createBucket(origin: string, name: string): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    const answer = await fetch(`${origin}/storage/v1/b`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name }),
    }).catch(() => undefined);
    if (answer?.ok === true) return;
    if (Date.now() > deadline) throw new Error("fake-gcs-server did not start.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
