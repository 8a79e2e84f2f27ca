/**
 * Measures how fast objects are encrypted and decrypted on one core, and how much memory a large object
 * takes. Run as `node bench/documents/crypto.ts [megabytes]`.
 */
import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WrappedKey } from "../../src/domain/tenancy/wrapped-keys.ts";
import { createDirectoryStore } from "../../src/storage/stores/directory.ts";
import { decryptStream, encryptStream } from "../../src/storage/keys/envelope.ts";
import { createKeyring, localMasterKey } from "../../src/storage/keys/keyring.ts";
import { objectName } from "../../src/storage/object-store.ts";
import { createStorage } from "../../src/storage/storage.ts";
import { machine } from "../report.ts";

const MEGABYTE = 1_000_000;
const PIECE_BYTES = 64 * 1_024;
const megabytes = Number(process.argv[2] ?? 1_000);
const bytes = megabytes * MEGABYTE;
const piece = randomBytes(PIECE_BYTES);

async function* plain(): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0; left -= PIECE_BYTES)
    yield left >= PIECE_BYTES ? piece : piece.subarray(0, left);
}

interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

async function measure(source: AsyncIterable<Uint8Array> | Promise<unknown>): Promise<Measured> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  let peak = process.memoryUsage.rss();
  const look = (): void => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const sampler = setInterval(look, 20);
  if (source instanceof Promise) await source;
  else for await (const _ of source) look();
  clearInterval(sampler);
  const { user, system } = process.cpuUsage(cpu);
  return {
    seconds: (performance.now() - start) / 1_000,
    cpuSeconds: (user + system) / 1e6,
    peakMegabytes: peak / MEGABYTE,
  };
}

const organizationId = randomUUID();
const identity = { organizationId, objectName: objectName(organizationId, randomUUID()) };
const organizationKey = { id: randomUUID(), secret: createSecretKey(randomBytes(32)) };
const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
const rows: WrappedKey[] = [];
const keyring = createKeyring({
  master: localMasterKey(randomBytes(32)),
  load: async () => rows,
  async create(_organization, { id, wrapped }) {
    rows.push({ id, wrapped, isCurrent: true });
  },
});
const storage = createStorage({ store: createDirectoryStore(folder), keyring });

const results: Array<readonly [string, Measured]> = [];
results.push(["encrypt", await measure(encryptStream(plain(), { ...identity, organizationKey }))]);
const sealed = encryptStream(plain(), { ...identity, organizationKey });
results.push([
  "encrypt and decrypt",
  await measure(decryptStream(sealed, { ...identity, keyById: async () => organizationKey })),
]);
results.push([
  "store (hash, encrypt, write, sync)",
  await measure(storage.put({ organizationId, name: identity.objectName, body: plain() })),
]);
results.push([
  "fetch (read, decrypt)",
  await measure(await storage.get({ organizationId, name: identity.objectName })),
]);
await rm(folder, { recursive: true, force: true });

process.stdout.write(
  `${megabytes} MB, ${machine()}\n\n` +
    "| step | seconds | CPU seconds | MB/s | MB a CPU second | peak memory, MB |\n" +
    "|---|---|---|---|---|---|\n",
);
for (const [name, { seconds, cpuSeconds, peakMegabytes }] of results) {
  const cells = [
    seconds.toFixed(2),
    cpuSeconds.toFixed(2),
    String(Math.floor(megabytes / seconds)),
    String(Math.floor(megabytes / cpuSeconds)),
    String(Math.ceil(peakMegabytes)),
  ];
  process.stdout.write(`| ${name} | ${cells.join(" | ")} |\n`);
}
