/**
 * Stands in for Google Cloud KMS, for which there is no emulator: its two REST calls over real AES-256-GCM,
 * with checksums.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { CRC32C } from "@google-cloud/storage";

export interface FakeKms {
  readonly origin: string;
  /** Returns the number of requests so far. */
  readonly calls: () => number;
  /** Sets the statuses of the next requests; 0 serves the request and damages the answer. */
  fail(...statuses: number[]): void;
  close(): Promise<void>;
}

type Fields = Record<string, string>;

function crc32c(bytes: Buffer): string {
  const checksum = new CRC32C();
  checksum.update(bytes);
  return String(checksum.valueOf() >>> 0);
}

const bytesOf = (fields: Fields, name: string): Buffer | undefined => {
  const bytes = Buffer.from(fields[name] ?? "", "base64");
  return crc32c(bytes) === fields[`${name}Crc32c`] ? bytes : undefined;
};

function encrypt(key: Buffer, plaintext: Buffer, aad: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, ciphertext: Buffer, aad: Buffer): Buffer | undefined {
  const decipher = createDecipheriv("aes-256-gcm", key, ciphertext.subarray(0, 12))
    .setAAD(aad)
    .setAuthTag(ciphertext.subarray(-16));
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(12, -16)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Starts the server. Each key name that is asked for gets a key of its own. */
export async function startFakeKms(): Promise<FakeKms> {
  const keys = new Map<string, Buffer>();
  const failures: number[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    void serve(request.url ?? "", json(request) as Promise<Fields>).then(([status, body]) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
    );
  });
  const serve = async (path: string, sent: Promise<Fields>): Promise<[number, Fields]> => {
    calls += 1;
    const fields = await sent;
    const failure = failures.shift();
    if (failure !== undefined && failure > 0) return [failure, {}];
    const [, name, verb] = /^\/v1\/(projects\/.+):(encrypt|decrypt)$/.exec(path) ?? [];
    if (name === undefined) return [404, {}];
    const key = keys.get(name) ?? randomBytes(32);
    keys.set(name, key);
    const [from, to] =
      verb === "encrypt" ? (["plaintext", "ciphertext"] as const) : (["ciphertext", "plaintext"] as const);
    const [input, aad] = [bytesOf(fields, from), bytesOf(fields, "additionalAuthenticatedData")];
    if (input === undefined || aad === undefined) return [400, {}];
    const output = (verb === "encrypt" ? encrypt : decrypt)(key, input, aad);
    return output === undefined
      ? [400, {}]
      : [200, { [to]: output.toString("base64"), [`${to}Crc32c`]: failure === 0 ? "1" : crc32c(output) }];
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    fail: (...statuses) => void failures.push(...statuses),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
