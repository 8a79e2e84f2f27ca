/**
 * A Temporal behind mutual TLS needs only settings: both the client and the workers' core present their
 * certificate.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Server, createServer } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/process/log.ts";
import { connectWorkers, lazyClient } from "../../src/temporal/connection.ts";
import { pingTemporal } from "../../src/temporal/start/chat.ts";

const run = promisify(execFile);
const NAME = "temporal.example";

let folder: string;
let gate: Server;
let settings: Record<string, string>;

const at = (name: string): string => join(folder, name);

/** Makes a key, and a certificate that the authority has signed. */
async function certify(name: string): Promise<void> {
  await run("openssl", [
    "req",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    at(`${name}.key`),
    "-out",
    at(`${name}.csr`),
    "-subj",
    `/CN=${name}`,
  ]);
  const signed = [
    "-CA",
    at("ca.pem"),
    "-CAkey",
    at("ca.key"),
    "-CAcreateserial",
    "-days",
    "2",
    "-extfile",
    at("names"),
  ];
  await run("openssl", ["x509", "-req", "-in", at(`${name}.csr`), "-out", at(`${name}.pem`), ...signed]);
}

/** Accepts connections with a certificate of the authority, and forwards them unencrypted. */
async function startGate(target: string): Promise<Server> {
  const [host, port] = target.split(":");
  const [key, cert, ca] = await Promise.all(
    ["server.key", "server.pem", "ca.pem"].map((name) => readFile(at(name))),
  );
  const server = createServer(
    { key: key!, cert: cert!, ca: ca!, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ["h2"] },
    (socket) => {
      const behind = connect(Number(port), host);
      socket.on("error", () => behind.destroy());
      behind.on("error", () => socket.destroy());
      socket.pipe(behind).pipe(socket);
    },
  );
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-tls-"));
  await writeFile(at("names"), `subjectAltName=DNS:${NAME}\n`);
  await run("openssl", [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=authority",
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
  ]);
  await certify("server");
  await certify("client");
  gate = await startGate(process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"] ?? "");
  settings = {
    TEMPORAL_ADDRESS: `127.0.0.1:${(gate.address() as AddressInfo).port}`,
    TEMPORAL_TLS_CA_FILE: at("ca.pem"),
    TEMPORAL_TLS_SERVER_NAME: NAME,
  };
});

afterAll(async () => {
  gate.close();
  await rm(folder, { recursive: true, force: true });
});

function temporalOf(env: Record<string, string>) {
  const { temporal } = loadConfig({ ...settings, ...env });
  return { ...temporal, address: temporal.address ?? "" };
}

test("with certificate and key the client and the workers' core are let in", async () => {
  const temporal = temporalOf({
    TEMPORAL_TLS_CERT_FILE: at("client.pem"),
    TEMPORAL_TLS_KEY_FILE: at("client.key"),
  });
  const client = lazyClient(temporal, {});
  await expect(pingTemporal(client)).resolves.toBeUndefined();
  await client.connection.close();
  const core = await connectWorkers(
    temporal,
    AbortSignal.timeout(10_000),
    createLog({ level: "silent", name: "test" }),
  );
  await core.close();
});

test("without them nobody is let in", async () => {
  const client = lazyClient(temporalOf({}), {});
  await expect(pingTemporal(client)).rejects.toThrow(/UNAVAILABLE|DEADLINE_EXCEEDED|CANCELLED/);
  await client.connection.close();
});
