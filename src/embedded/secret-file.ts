/** Secrets that the first start makes and keeps: each in a file that only its owner can read. */
import { randomBytes, randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoginPasswords } from "./servers/database-urls.ts";
import { hasCode } from "./start-error.ts";

const MASTER_KEY_BYTES = 32;
const PASSWORD_BYTES = 24;
const DEMO_KEY_BYTES = 20;
const ISSUER_SECRET_BYTES = 32;
const LOGIN_FILES = ["postgres-app-password", "postgres-system-password", "postgres-maintenance-password"];

/** The master key that encrypts what is stored, in base64. Losing the file means losing the data. */
export async function masterKey(dataDir: string): Promise<string> {
  return readOrMake(join(dataDir, "master.key"), () => randomBytes(MASTER_KEY_BYTES).toString("base64"));
}

export async function postgresPassword(dataDir: string): Promise<string> {
  return readOrMake(join(dataDir, "postgres-password"), () => randomBytes(PASSWORD_BYTES).toString("hex"));
}

export async function loginPasswords(dataDir: string): Promise<LoginPasswords> {
  const [app, system, maintenance] = await Promise.all(
    LOGIN_FILES.map((name) =>
      readOrMake(join(dataDir, name), () => randomBytes(PASSWORD_BYTES).toString("hex")),
    ),
  );
  return { app: app!, system: system!, maintenance: maintenance! };
}

/** The API key of the demo organization's administrator. */
export async function demoKey(dataDir: string): Promise<string> {
  return readOrMake(
    join(dataDir, "demo-key"),
    () => `sk-demo-${randomBytes(DEMO_KEY_BYTES).toString("hex")}`,
  );
}

/** What the development issuer asks for before it signs anybody in. */
export async function issuerSecret(dataDir: string): Promise<string> {
  return readOrMake(join(dataDir, "issuer-secret"), () => randomBytes(ISSUER_SECRET_BYTES).toString("hex"));
}

/** Safe for several processes at once: all get the same secret. */
async function readOrMake(path: string, make: () => string): Promise<string> {
  const kept = await readSecret(path);
  if (kept !== undefined) return kept;
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${make()}\n`, { mode: 0o600, flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readSecret(path);
  if (made === undefined) throw new Error(`${path} is empty`);
  return made;
}

async function readSecret(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  });
  return text.trim() === "" ? undefined : text.trim();
}
