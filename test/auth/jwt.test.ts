import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createJwtVerifier, type VerifyJwt } from "../../src/auth/jwt.ts";
import { DomainError } from "../../src/domain/errors.ts";

const AUDIENCE = "holdfast";
const MINUTE_MS = 60_000;

interface Signer {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: Record<string, unknown>;
}

async function makeSigner(kid: string, alg: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

let server: Server;
let issuer: string;
let published: Signer[];
let requests: number;
let nowMs: number;
let verify: VerifyJwt;
let signer: Signer;

beforeEach(async () => {
  requests = 0;
  nowMs = Date.now();
  signer = await makeSigner("first", "ES256");
  published = [signer];
  server = createServer((request, response) => {
    requests += 1;
    const body =
      request.url === "/keys"
        ? { keys: published.map((one) => one.publicJwk) }
        : { issuer, jwks_uri: `${issuer}/keys` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  verify = createJwtVerifier({ issuer, audience: AUDIENCE, now: () => nowMs });
});
afterEach(() => stop());

async function stop(): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

function sign(by: Signer, claims: Record<string, unknown> = {}): Promise<string> {
  const seconds = Math.floor(nowMs / 1_000);
  return new SignJWT({ iss: issuer, aud: AUDIENCE, sub: "ada", iat: seconds, exp: seconds + 300, ...claims })
    .setProtectedHeader({ alg: by.alg, kid: by.kid })
    .sign(by.privateKey);
}

async function code(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DomainError);
  return (error as DomainError).code;
}

describe("a token of the issuer", () => {
  it.each(["RS256", "ES256", "EdDSA"])("signed with %s names its subject", async (alg) => {
    const one = await makeSigner("one", alg);
    published = [one];
    expect(await verify(await sign(one))).toEqual({ subject: "ada", verifiedEmail: null, roles: [] });
  });

  it("vouches for an e-mail address only if it says verified", async () => {
    expect(
      (await verify(await sign(signer, { email: "ada@example.org", email_verified: true }))).verifiedEmail,
    ).toBe("ada@example.org");
    expect(
      (await verify(await sign(signer, { email: "ada@example.org", email_verified: false }))).verifiedEmail,
    ).toBeNull();
    expect((await verify(await sign(signer, { email: "ada@example.org" }))).verifiedEmail).toBeNull();
    expect(
      (await verify(await sign(signer, { email: "ada@example.org", email_verified: "true" }))).verifiedEmail,
    ).toBeNull();
  });

  it("is accepted up to 30 s beyond its times, for clocks that differ", async () => {
    const seconds = Math.floor(nowMs / 1_000);
    for (const claims of [{ exp: seconds - 25 }, { nbf: seconds + 25 }])
      expect((await verify(await sign(signer, claims))).subject).toBe("ada");
  });
});

describe("401 for", () => {
  const seconds = () => Math.floor(nowMs / 1_000);
  const bad: Record<string, () => Record<string, unknown>> = {
    "an expired token": () => ({ exp: seconds() - 31 }),
    "a token of the future": () => ({ nbf: seconds() + 31 }),
    "another audience": () => ({ aud: "somebody" }),
    "another issuer": () => ({ iss: "https://elsewhere.example" }),
    "no expiry": () => ({ exp: undefined }),
    "no subject": () => ({ sub: undefined }),
    "an empty subject": () => ({ sub: "" }),
    "a subject with a NUL": () => ({ sub: "a\0b" }),
  };
  it.each(Object.entries(bad))("%s", async (_name, claims) => {
    expect(await code(verify(await sign(signer, claims())))).toBe("unauthenticated");
  });

  it("no signature and HMAC, without asking the issuer", async () => {
    const claims = { iss: issuer, aud: AUDIENCE, sub: "ada" };
    const unsigned = new UnsecuredJWT(claims).setExpirationTime("5m").encode();
    const hmac = await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256", kid: "first" })
      .setExpirationTime("5m")
      .sign(new TextEncoder().encode(JSON.stringify(signer.publicJwk)));
    for (const token of [unsigned, hmac, "garbage", "a.b.c", ""])
      expect(await code(verify(token))).toBe("unauthenticated");
    expect(requests).toBe(0);
  });

  it("the right key id with another's signature", async () => {
    expect(await code(verify(await sign(await makeSigner("first", "ES256"))))).toBe("unauthenticated");
  });
});

describe("signing keys", () => {
  it("are fetched once for many tokens", async () => {
    await Promise.all(Array.from({ length: 20 }, async () => verify(await sign(signer))));
    expect(requests).toBe(2);
  });

  it("are fetched again for an unknown key id, at most once in 5 s", async () => {
    await verify(await sign(signer));
    const second = await makeSigner("second", "ES256");
    published = [signer, second];
    nowMs += 5_001;
    await verify(await sign(second));
    const before = requests;
    const made = await makeSigner("made up", "ES256");
    for (let index = 0; index < 10; index += 1)
      expect(await code(verify(await sign(made)))).toBe("unauthenticated");
    expect(requests).toBe(before);
  });

  it("that are known serve while the issuer is down, however old; an unknown one is 503", async () => {
    await verify(await sign(signer));
    await stop();
    nowMs += 60 * MINUTE_MS;
    await verify(await sign(signer));
    expect(await code(verify(await sign(await makeSigner("unknown", "ES256"))))).toBe("issuer_unavailable");
  });

  it("that the issuer withdrew are refused after ten minutes", async () => {
    await verify(await sign(signer));
    published = [await makeSigner("next", "ES256")];
    nowMs += 11 * MINUTE_MS;
    expect(await code(verify(await sign(signer)))).toBe("unauthenticated");
  });

  it("are 503 while the issuer was never reached, and fetched once it is back", async () => {
    const { port } = server.address() as AddressInfo;
    await stop();
    expect(await code(verify(await sign(signer)))).toBe("issuer_unavailable");
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    nowMs += 5_001;
    await verify(await sign(signer));
  });
});

it("refuses an issuer over plain http that is not on loopback", () => {
  expect(() => createJwtVerifier({ issuer: "http://issuer.example", audience: AUDIENCE })).toThrow(TypeError);
});
