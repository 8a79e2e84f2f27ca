/** Runs `npm run dev` on a copy of the sources, with servers of its own, so that tests can edit the copy. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../src/embedded/ports.ts";
import { until } from "../until.ts";

const ROOT = join(import.meta.dirname, "../../..");
const COPIED = ["src", "scripts", "package.json", "package-lock.json"];
const LINKED = ["models", "node_modules"];
/** Generous, for a machine that is busy with other tests. */
const WAIT_MS = 90_000;

export interface DevCopy {
  readonly url: string;
  readonly dataDir: string;
  /** Changes a file of the copy, given by its path, e.g. `src/api/app.ts`. */
  edit(path: string, change: (source: string) => string): Promise<void>;
  /** Ids of the running processes, by name. */
  pids(): Promise<Record<string, number>>;
  /** Returns everything that was printed so far. */
  printed(): string;
  /** Waits until the text is printed after the first `from` characters. */
  says(text: string, from?: number): Promise<void>;
  close(): Promise<void>;
}

/** @param cacheDir folder of downloaded servers. */
export async function startDevCopy(cacheDir: string | undefined): Promise<DevCopy> {
  const root = await mkdtemp(join(tmpdir(), "holdfast-dev-"));
  // If this is root, Postgres runs as another user, who must be able to enter the folder.
  await chmod(root, 0o711);
  for (const name of COPIED) await cp(join(ROOT, name), join(root, name), { recursive: true });
  for (const name of LINKED) await symlink(join(ROOT, name), join(root, name));
  const dataDir = join(root, "data");
  const port = await freePort();
  const { PATH, HOME } = process.env;
  // In production mode there is no demo to ingest, which would be the longest part of the start.
  const env = {
    PATH,
    HOME,
    NODE_ENV: "production",
    DATA_DIR: dataDir,
    PORT: String(port),
    HOLDFAST_CACHE: cacheDir,
  };
  const child = spawn(process.execPath, [join(root, "src/embedded/start.ts"), "--dev"], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const copy: DevCopy = {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    async edit(path, change) {
      // Replaced at once, as editors do: a file that is emptied and then filled can be seen as two edits by a
      // busy machine, and the second restart would end what the first one started.
      const file = join(root, path);
      await writeFile(`${file}~`, change(await readFile(file, "utf8")));
      await rename(`${file}~`, file);
    },
    async pids() {
      const recorded: Array<{ name: string; pid: number }> = JSON.parse(
        await readFile(join(dataDir, "processes.json"), "utf8"),
      );
      return Object.fromEntries(recorded.map(({ name, pid }) => [name, pid]));
    },
    printed: () => printed,
    async says(text, from = 0) {
      await until(
        `"${text}" is printed, or the end`,
        () => hasEnded() || printed.includes(text, from),
        WAIT_MS,
      );
      if (!printed.includes(text, from)) throw new Error(`it ended before it printed "${text}":\n${printed}`);
    },
    async close() {
      if (!hasEnded()) {
        const gone = once(child, "exit");
        child.kill("SIGTERM");
        await gone;
      }
      await rm(root, { recursive: true, force: true });
    },
  };
  try {
    await copy.says("Holdfast is up");
  } catch (error) {
    await copy.close();
    throw error;
  }
  return copy;
}
