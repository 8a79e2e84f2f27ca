/** Verifies access tokens of the OpenID issuer, with the keys that it publishes. */
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from "jose";
import { DomainError } from "../domain/errors.ts";
import { shareFor } from "../process/concurrency/share-running.ts";

/** Asymmetric signatures only: with `none` or HMAC a caller could sign its own token. */
const ALGORITHMS = ["RS256", "ES256", "EdDSA"];
const LEEWAY_SECONDS = 30;
const FETCH_TIMEOUT_MS = 5_000;
const MAX_DOCUMENT_BYTES = 1_048_576;
/** Keys are fetched again after this long, so that withdrawn ones are noticed. */
const KEYS_MAX_AGE_MS = 600_000;
/** Tokens with made-up key ids cannot make us ask the issuer more often than this. */
const REFRESH_INTERVAL_MS = 5_000;
const RETRY_AFTER_SECONDS = 5;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

interface TokenSubject {
  readonly subject: string;
  /** Null if the issuer does not say that it is verified. */
  readonly verifiedEmail: string | null;
  /** The claim `roles`; empty without one. */
  readonly roles: readonly string[];
}

/**
 * @param audience what the token must name, if it is not that of the settings.
 * @throws DomainError `unauthenticated`; `issuer_unavailable` if the signing key is not known and cannot be
 * fetched.
 */
export type VerifyJwt = (token: string, audience?: string) => Promise<TokenSubject>;

interface JwtSettings {
  /** The URL in the tokens' `iss`: https, or http on loopback. */
  readonly issuer: string;
  readonly audience: string;
  /** Milliseconds since the epoch; `Date.now` by default. */
  readonly now?: () => number;
}

type FindKey = ReturnType<typeof createLocalJWKSet>;

/**
 * The issuer is asked for its keys when the first token comes. While it is down, the keys that were fetched
 * last serve. A token may be up to 30 seconds past its expiry, because clocks differ.
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html
 */
export function createJwtVerifier({ issuer, audience: usual, now = Date.now }: JwtSettings): VerifyJwt {
  assertSafeUrl(issuer);
  const keys = createSigningKeys(issuer, now);

  async function verify(token: string, findKey: FindKey, audience: string): Promise<JWTPayload> {
    const options = {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: LEEWAY_SECONDS,
      requiredClaims: ["exp", "sub"],
      currentDate: new Date(now()),
    };
    return (await jwtVerify(token, findKey, options)).payload;
  }

  return async (token, audience = usual) => {
    assertAllowedAlgorithm(token);
    try {
      const payload = await verify(token, await keys.current(), audience).catch(async (error: unknown) => {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        return verify(token, await keys.refreshed(), audience);
      });
      return subjectOf(payload);
    } catch (error) {
      throw error instanceof errors.JOSEError ? invalidToken(error) : error;
    }
  };
}

/** Refuses a token before the issuer is asked for keys. */
function assertAllowedAlgorithm(token: string): void {
  let algorithm: string | undefined;
  try {
    algorithm = decodeProtectedHeader(token).alg;
  } catch (error) {
    throw invalidToken(error);
  }
  if (algorithm === undefined || !ALGORITHMS.includes(algorithm)) throw invalidToken();
}

function subjectOf(payload: JWTPayload): TokenSubject {
  const { sub, email, email_verified: isVerified, roles } = payload;
  if (typeof sub !== "string" || sub === "" || sub.includes("\0")) throw invalidToken();
  const vouched = typeof email === "string" && isVerified === true && !email.includes("\0");
  return {
    subject: sub,
    verifiedEmail: vouched ? email : null,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === "string") : [],
  };
}

interface SigningKeys {
  /** The known keys. Fetched if there are none or old ones; old ones serve while the issuer is down. */
  current(): Promise<FindKey>;
  /** The keys that the issuer publishes now, or those of a request in the last 5 seconds. */
  refreshed(): Promise<FindKey>;
}

function createSigningKeys(issuer: string, now: () => number): SigningKeys {
  let known: { readonly findKey: FindKey; readonly fetchedMs: number } | undefined;

  async function refresh(): Promise<FindKey> {
    const fetchedMs = now();
    const findKey = await fetchKeys(issuer);
    known = { findKey, fetchedMs };
    return findKey;
  }
  const refreshed = shareFor(REFRESH_INTERVAL_MS, refresh, now);

  return {
    refreshed,
    async current() {
      if (known === undefined) return refreshed();
      if (now() - known.fetchedMs < KEYS_MAX_AGE_MS) return known.findKey;
      const stale = known.findKey;
      return refreshed().catch(() => stale);
    },
  };
}

async function fetchKeys(issuer: string): Promise<FindKey> {
  const { keys } = await fetchKeySet(issuer);
  try {
    return createLocalJWKSet(keys as unknown as JSONWebKeySet);
  } catch (error) {
    throw issuerUnavailable(error);
  }
}

interface IssuerLook {
  /** How many signing keys it publishes. */
  readonly keys: number;
  /** Seconds that its clock is ahead of this machine's, accurate to a second; null if it sends no date. */
  readonly aheadSeconds: number | null;
}

/**
 * Asks the issuer for its keys, as the first token would.
 * @throws DomainError `issuer_unavailable`, whose cause says why; TypeError for a URL that is neither https
 * nor loopback.
 */
export async function lookAtIssuer(issuer: string): Promise<IssuerLook> {
  assertSafeUrl(issuer);
  const { keys, date } = await fetchKeySet(issuer);
  const listed = keys["keys"];
  const sentAt = Date.parse(date ?? "");
  // The header counts whole seconds, so half a second has passed on average.
  const aheadSeconds = Number.isNaN(sentAt) ? null : (sentAt + 500 - Date.now()) / 1_000;
  return { keys: Array.isArray(listed) ? listed.length : 0, aheadSeconds };
}

async function fetchKeySet(issuer: string): Promise<{ keys: Record<string, unknown>; date: string | null }> {
  const { document: discovered } = await fetchDocument(
    `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
  );
  const uri = discovered["jwks_uri"];
  if (discovered["issuer"] !== issuer || typeof uri !== "string")
    throw issuerUnavailable(new Error("the discovery document is not this issuer's"));
  assertSafeUrl(uri);
  const { document: keys, date } = await fetchDocument(uri);
  return { keys, date };
}

async function fetchDocument(
  url: string,
): Promise<{ document: Record<string, unknown>; date: string | null }> {
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`the issuer answered ${response.status}`);
    if (Number(response.headers.get("content-length") ?? 0) > MAX_DOCUMENT_BYTES)
      throw new Error("the issuer's answer is too large");
    const document: unknown = await response.json();
    if (typeof document !== "object" || document === null)
      throw new Error("the issuer's answer is no object");
    return { document: document as Record<string, unknown>, date: response.headers.get("date") };
  } catch (error) {
    throw issuerUnavailable(error);
  }
}

function assertSafeUrl(text: string): void {
  const url = new URL(text);
  if (url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(url.hostname))) return;
  throw new TypeError("the OpenID issuer must be https, or http on loopback");
}

function invalidToken(cause?: unknown): DomainError {
  return new DomainError("invalid_token", "Invalid access token", { cause });
}

function issuerUnavailable(cause: unknown): DomainError {
  return new DomainError("issuer_unavailable", "The identity provider is not reachable.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}
