/** The process of the development issuer: `node src/issuer/main.ts PORT`, on loopback only. */
import { once } from "node:events";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { JWK } from "jose";
import { type Config, loadConfig } from "../config/config.ts";
import { localAddress } from "../config/local-address.ts";
import { DEVELOPMENT_AUDIENCE } from "../embedded/servers/issuer-part.ts";
import { issuerSecret } from "../embedded/secret-file.ts";
import { answerAtGate } from "./gate.ts";
import { openPeople } from "./people.ts";
import { createIssuer, ISSUER_CLIENT, ISSUER_GRANT, makeIssuerKeys } from "./provider.ts";
import { answerSignIn } from "./sign-in.ts";

const HOST = "127.0.0.1";

async function main(): Promise<void> {
  const config = loadConfig();
  const { environment, dataDir } = config;
  if (environment === "production")
    throw new Error(
      "The development issuer gives anyone with access to its data folder a token for any user; " +
        "it does not run in production. Set OIDC_ISSUER and OIDC_AUDIENCE to a real one.",
    );
  const port = Number(process.argv[2] ?? "0");
  const server = createServer();
  server.listen(port, HOST);
  await once(server, "listening");
  const bound = (server.address() as AddressInfo).port;
  const url = `http://${HOST}:${bound}`;
  const secret = await issuerSecret(dataDir);
  const people = openPeople();
  const provider = createIssuer({
    url,
    audience: DEVELOPMENT_AUDIENCE,
    mcpResource: `${config.api.publicUrl}/mcp`,
    secret,
    keys: await keptKeys(join(dataDir, "issuer-keys.json")),
    consoleAddresses: consoleAddresses(config),
    findPerson: (subject) => people.find(subject),
  });
  const answer = provider.callback();
  const consoleAddress = `${localAddress(config.api.host, config.api.port)}/console`;
  const gate = { secret, port: bound, consoleAddress };
  const hosts = [HOST, "localhost"].map((host) => `${host}:${bound}`);
  // Before it answers anybody: who waits for its first answer then looks for its announcement.
  const announcement = join(dataDir, "issuer.json");
  await writeSecret(
    announcement,
    JSON.stringify({ url, client: ISSUER_CLIENT, grant: ISSUER_GRANT, secret }),
  );
  server.on("request", (request, response) => {
    // A foreign name that leads to this machine is that of a page elsewhere, which must not read who is here.
    if (!hosts.includes(request.headers.host ?? "")) {
      response.writeHead(421, { "content-type": "text/plain; charset=utf-8" });
      response.end(`This is ${url}.\n`);
      return;
    }
    void answerAtGate(gate, request, response)
      .then((isAnswered) => isAnswered || answerSignIn({ provider, people }, request, response))
      .then((isAnswered) => {
        if (!isAnswered) void answer(request, response);
      });
  });
  process.stdout.write(`issuer ready at ${url}\n`);
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
    void people.close();
    void rm(announcement, { force: true });
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
}

/** The console is at the service's address, by both names of this machine, and where it is hosted. */
function consoleAddresses({ api, console: { origin } }: Config): string[] {
  const local = [HOST, "localhost"].map((host) => `http://${host}:${api.port}`);
  return [...new Set([...local, api.publicUrl, ...(origin === undefined ? [] : [origin])])].map(
    (origin) => `${origin}/console`,
  );
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
