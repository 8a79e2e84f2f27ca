/** An OpenID issuer for tests that need tokens for people whom the development issuer would refuse. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

export interface TestIssuer {
  readonly url: string;
  readonly audience: string;
  /** Signs a token that is valid for an hour and has these additional claims, or another audience. */
  token(subject: string, claims?: Readonly<Record<string, unknown>>, of?: string): Promise<string>;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: "test", alg: "ES256", use: "sig" }];
  let url = "";
  const server = createServer((request, response) => {
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify(request.url === "/keys" ? { keys } : { issuer: url, jwks_uri: `${url}/keys` }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const audience = "holdfast";
  return {
    url,
    audience,
    token: (subject, claims, of = audience) =>
      new SignJWT({ ...claims })
        .setIssuer(url)
        .setAudience(of)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime("1h")
        .setProtectedHeader({ alg: "ES256", kid: "test" })
        .sign(privateKey),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
