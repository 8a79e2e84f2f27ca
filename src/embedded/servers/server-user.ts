/** Running as root, which Postgres refuses: its files and its process then belong to another user. */
import { access, chmod, constants, mkdir, readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { StartError } from "../start-error.ts";

export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const USER_NAMES = ["postgres", "nobody"];
const ROOT = 0;
const SYSTEM_CACHE = "/var/cache/holdfast";
const WRITABLE_BY_OTHERS = 0o022;

/** The user that Postgres runs as; undefined if this process is not root: then the same user. */
export async function serverUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== ROOT) return undefined;
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  for (const name of USER_NAMES) {
    const account = accounts.find((fields) => fields[0] === name);
    if (account !== undefined) return { name, uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new StartError(
    `Postgres does not run as root, and there is no user ${USER_NAMES.join(" or ")} to run it as. ` +
      "Run npm start as another user, or set DATABASE_URL.",
  );
}

/** The first folder on the way to `path`, itself included, whose mode bits do not let `user` pass through. */
export async function firstClosedFolder(path: string, user: ServerUser): Promise<string | undefined> {
  const parent = dirname(path);
  const above = parent === path ? undefined : await firstClosedFolder(parent, user);
  if (above !== undefined) return above;
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isDirectory()) return undefined;
  const bit = found.uid === user.uid ? 0o100 : found.gid === user.gid ? 0o010 : 0o001;
  return (found.mode & bit) === 0 ? path : undefined;
}

/**
 * Makes the data folder. Others cannot read it; they may pass through only if another user must reach what is
 * in it.
 * @throws StartError if it cannot be made, or `user` cannot reach it
 */
export async function makeDataDir(dataDir: string, user: ServerUser | undefined): Promise<void> {
  try {
    const made = await mkdir(dataDir, { recursive: true, mode: user === undefined ? 0o700 : 0o711 });
    if (made !== undefined && user !== undefined) await chmod(dataDir, 0o711);
    await access(dataDir, constants.W_OK);
  } catch (error) {
    throw new StartError(
      `Cannot write to the data folder ${dataDir}. Set DATA_DIR to a writable folder.`,
      error,
    );
  }
  const closed = user === undefined ? undefined : await firstClosedFolder(dataDir, user);
  if (user === undefined || closed === undefined) return;
  throw new StartError(
    `Postgres does not run as root, so it runs as "${user.name}", who may not pass through ${closed}. ` +
      "Use a data folder elsewhere: DATA_DIR=/var/lib/holdfast npm start. " +
      `Or open the way: chmod o+x ${closed}. ` +
      "Or run npm start as another user, or set DATABASE_URL.",
  );
}

interface CacheChoice {
  /** The folder of the settings; no other is tried then. */
  readonly configured: string | undefined;
  readonly dataDir: string;
  readonly user: ServerUser | undefined;
}

/**
 * The folder for downloaded programs: the configured one, else the user's cache, else one in the data folder.
 * @throws StartError if none of them can be written and be reached by `user`
 */
export async function chooseCacheDir({ configured, dataDir, user }: CacheChoice): Promise<string> {
  const candidates = cacheDirs({ configured, dataDir, user });
  // A configured cache may be filled beforehand and closed to writing.
  const needed = configured === undefined ? constants.W_OK : constants.R_OK;
  for (const candidate of candidates) if (await isUsable(candidate, user, needed)) return candidate;
  const mayEnter = user === undefined ? "" : ` and "${user.name}" may enter`;
  throw new StartError(
    `No folder for fetched programs can be used; tried ${candidates.join(", ")}. ` +
      `Set HOLDFAST_CACHE to a folder that this user may write${mayEnter}.`,
  );
}

/** The folders that {@link chooseCacheDir} tries, in this order. */
export function cacheDirs({ configured, dataDir, user }: CacheChoice): string[] {
  if (configured !== undefined) return [configured];
  return [user === undefined ? join(homedir(), ".cache", "holdfast") : SYSTEM_CACHE, join(dataDir, "cache")];
}

async function isUsable(folder: string, user: ServerUser | undefined, needed: number): Promise<boolean> {
  try {
    if ((await mkdir(folder, { recursive: true, mode: 0o755 })) !== undefined) await chmod(folder, 0o755);
    await access(folder, needed);
    if (user === undefined) return true;
    // Nobody else may be able to replace programs that root starts.
    const found = await stat(folder);
    if (found.uid !== ROOT || (found.mode & WRITABLE_BY_OTHERS) !== 0) return false;
    return (await firstClosedFolder(folder, user)) === undefined;
  } catch {
    return false;
  }
}
