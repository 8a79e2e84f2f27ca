/**
 * The process of the development issuer: `node src/embedded/servers/issuer-main.ts PORT`, on loopback only.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { JWK } from "jose";
import { loadConfig } from "../../config/config.ts";
import { createIssuer, ISSUER_CLIENT, ISSUER_GRANT, makeIssuerKeys } from "./issuer.ts";
import { DEVELOPMENT_AUDIENCE } from "./issuer-part.ts";

const HOST = "127.0.0.1";
const SECRET_BYTES = 32;

async function main(): Promise<void> {
  const { environment, dataDir } = loadConfig();
  if (environment === "production")
    throw new Error(
      "The development issuer gives anybody on this machine a token of any user; " +
        "it does not run in production. Set OIDC_ISSUER and OIDC_AUDIENCE to a real one.",
    );
  const port = Number(process.argv[2] ?? "0");
  const server = createServer();
  server.listen(port, HOST);
  await once(server, "listening");
  const url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
  const secret = randomBytes(SECRET_BYTES).toString("hex");
  const provider = createIssuer({
    url,
    audience: DEVELOPMENT_AUDIENCE,
    secret,
    keys: await keptKeys(join(dataDir, "issuer-keys.json")),
  });
  const answer = provider.callback();
  server.on("request", (request, response) => void answer(request, response));
  const announcement = join(dataDir, "issuer.json");
  await writeSecret(
    announcement,
    JSON.stringify({ url, client: ISSUER_CLIENT, grant: ISSUER_GRANT, secret }),
  );
  process.stdout.write(`issuer ready at ${url}\n`);
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
    void rm(announcement, { force: true });
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
}

/** The same keys at every start, so that tokens and cached keys stay valid after a restart. */
async function keptKeys(path: string): Promise<JWK[]> {
  const kept = await readFile(path, "utf8").catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept) as JWK[];
  const keys = await makeIssuerKeys();
  await writeSecret(path, JSON.stringify(keys));
  return keys;
}

/** Writes the file atomically, readable only by its owner. */
async function writeSecret(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
}

await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
