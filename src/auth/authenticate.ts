/** Turns the credentials of a request into a principal: an API key or an access token of the issuer. */
import { createSecretKey } from "node:crypto";
import { type CallerRow, findKeyCaller, type KeyCallerRow } from "../db/keys/callers.ts";
import { type Database, inTenant } from "../db/pool.ts";
import { ensurePrivateSpace } from "../db/tenancy/spaces.ts";
import { findSubjectCaller } from "../db/tenancy/users.ts";
import { isWithin, type Network, networksOf } from "../domain/tenancy/cidr.ts";
import { DomainError } from "../domain/errors.ts";
import { CAPABILITIES, type Principal } from "../domain/tenancy/principal.ts";
import { hashKey, isWellFormedKey } from "./api-keys.ts";
import type { VerifyJwt } from "./jwt.ts";
import { createLookupCache } from "../process/concurrency/lookup-cache.ts";

/** With the look-up it stays below the 5 s within which a revoked key must be refused everywhere. */
const KEY_CACHE_MS = 4_000;
const UNKNOWN_KEY_CACHE_MS = 1_000;
const CACHED_KEYS = 10_000;
/** The role, in the token's claim `roles`, that lets its subject act for the instance. */
export const OPERATORS = "operators";
const MAX_TOKEN_LENGTH = 16_384;

interface Credentials {
  readonly authorization: string | undefined;
  /** The `X-Organization-Id` header as it came. */
  readonly organizationId: string | undefined;
  /** The client's address, as the trusted proxies report it. */
  readonly address: string;
  /** True: what was looked up before is not enough, however short ago that was. */
  readonly isFresh?: boolean;
  /** What an access token must name as its audience. Default: the audience of the settings. */
  readonly audience?: string | undefined;
  /** Called with the owner of a known key before it is judged: its refusals are the owner's to see. */
  readonly onKnown?: ((owner: Principal) => void) | undefined;
}

export interface Authenticator {
  /**
   * Makes the caller's private space if there is none yet.
   * @throws DomainError `unauthenticated` for missing, unknown, expired or revoked credentials, and in the
   * same words for a key that is bound to other addresses; `permission_denied` if the owner left the
   * organization or the request names another one; `issuer_unavailable`, `database_unavailable`.
   */
  authenticate(credentials: Credentials): Promise<Principal>;
  /**
   * For requests about the instance, which belong to no organization.
   * @returns the token's subject.
   * @throws DomainError `unauthenticated`; `permission_denied` if the token does not give the role
   * `operators`.
   */
  authenticateOperator(authorization: string | undefined): Promise<string>;
  /** Call after changing the user's keys, role or spaces: here it counts at once, elsewhere within 5 s. */
  forgetUser(userId: string): void;
}

interface AuthenticatorSettings {
  readonly db: Database;
  /** The instance's secret that key hashes are made with. */
  readonly pepper: Uint8Array;
  /** Undefined if no issuer is configured: then every JWT is refused. */
  readonly verifyJwt?: VerifyJwt | undefined;
  /** Milliseconds since the epoch; `Date.now` by default. */
  readonly now?: () => number;
  /** Called if several users wait with this verified address: none is bound; an operator has to decide. */
  readonly onAmbiguousLogin?: (userIds: readonly string[]) => void;
}

interface KeyCaller {
  readonly principal: Principal;
  readonly expiresAtMs: number;
  readonly isRevoked: boolean;
  /** False if the owner left the organization or was removed from it, or if it was deleted. */
  readonly isHome: boolean;
  /** Of its organization, whose audit log goes with it. */
  readonly isDeleted: boolean;
  /** Networks that the key may be used from; null: everywhere. */
  readonly allowedNetworks: readonly Network[] | null;
}

/** Keys are looked up at most once in 4 seconds, tokens at each request. */
export function createAuthenticator({
  db,
  pepper,
  verifyJwt,
  now = Date.now,
  onAmbiguousLogin = () => undefined,
}: AuthenticatorSettings): Authenticator {
  const pepperKey = createSecretKey(pepper);
  const keys = createLookupCache<KeyCaller | null>({
    maxEntries: CACHED_KEYS,
    now,
    maxAgeMs: (caller) => (caller === null ? UNKNOWN_KEY_CACHE_MS : KEY_CACHE_MS),
  });

  async function byKey(text: string, { address, isFresh = false, onKnown }: Credentials): Promise<Principal> {
    if (!isWellFormedKey(text)) throw invalidKey();
    const hash = hashKey(pepperKey, text);
    const caller = await keys[isFresh ? "renew" : "get"](hash.toString("base64"), async () => {
      const row = await withPrivateSpace(db, () => findKeyCaller(db, hash));
      return row === null ? null : keyCaller(row);
    });
    if (caller !== null && !caller.isDeleted) onKnown?.(caller.principal);
    requireUsable(caller, address, now());
    return caller.principal;
  }

  async function byJwt(token: string, audience: string | undefined): Promise<Principal> {
    const { subject, verifiedEmail, roles } = await requireVerifier(verifyJwt)(token, audience);
    const row = await withPrivateSpace(db, async () => {
      const { caller, ambiguous } = await findSubjectCaller(db, subject, verifiedEmail);
      if (ambiguous.length > 0) onAmbiguousLogin(ambiguous);
      return caller;
    });
    const principal = loggedInPrincipal(row);
    return roles.includes(OPERATORS) ? { ...principal, isOperator: true } : principal;
  }

  return {
    async authenticate(credentials) {
      const { authorization, organizationId, audience } = credentials;
      const token = bearerToken(authorization);
      const principal = isKey(token) ? await byKey(token, credentials) : await byJwt(token, audience);
      if (organizationId !== undefined && organizationId.toLowerCase() !== principal.organization.id)
        throw new DomainError("wrong_organization", "Permission denied: wrong organization");
      return principal;
    },
    async authenticateOperator(authorization) {
      const token = bearerToken(authorization);
      if (isKey(token)) throw invalidToken();
      const { subject, roles } = await requireVerifier(verifyJwt)(token);
      if (!roles.includes(OPERATORS))
        throw new DomainError("not_an_operator", "Permission denied: this requires the role operators");
      return subject;
    },
    forgetUser: (userId) => keys.forget((caller) => caller?.principal.user.id === userId),
  };
}

function isKey(token: string): boolean {
  return token.startsWith("sk-");
}

/** Whether an `Authorization` header has the form of a key's. */
export function isKeyHeader(authorization: string | undefined): boolean {
  return authorization !== undefined && /^Bearer +sk-/i.test(authorization);
}

function requireVerifier(verifyJwt: VerifyJwt | undefined): VerifyJwt {
  if (verifyJwt === undefined) throw invalidToken();
  return verifyJwt;
}

/** @throws DomainError `unauthenticated`, `permission_denied` */
function requireUsable(
  caller: KeyCaller | null,
  address: string,
  nowMs: number,
): asserts caller is KeyCaller {
  if (caller === null) throw invalidKey();
  // Checked first, so that an address which may not use the key cannot tell it from an unknown one; and at
  // each request, because a cached look-up serves every address.
  if (caller.allowedNetworks !== null && !isWithin(caller.allowedNetworks, address)) throw invalidKey();
  if (!caller.isHome)
    throw new DomainError(
      "key_owner_left",
      "Permission denied: the key's owner is not a member of its organization",
    );
  if (caller.isRevoked) throw invalidKey("key_revoked");
  if (caller.expiresAtMs <= nowMs) throw invalidKey("key_expired");
}

/** @throws DomainError `unauthenticated`, `permission_denied` */
function loggedInPrincipal(row: CallerRow | null): Principal {
  if (row === null) throw invalidToken();
  if (row.organization.deleted)
    throw new DomainError("organization_deleted", "Permission denied: the organization no longer exists");
  return principalOf(row, null);
}

function bearerToken(authorization: string | undefined): string {
  const token = authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined)
    throw new DomainError(
      "authentication_required",
      "Authentication required: send an 'Authorization: Bearer <API_KEY>' header",
    );
  if (token.length > MAX_TOKEN_LENGTH) throw invalidToken();
  if (!isKey(token) && !token.includes("."))
    throw new DomainError(
      "invalid_api_key",
      "This is neither an API key, which starts with sk-, nor an access token",
    );
  return token;
}

/** One text whatever is wrong with the key; the reason is told only to those who hold a real one. */
function invalidKey(
  reason: "invalid_api_key" | "key_expired" | "key_revoked" = "invalid_api_key",
): DomainError {
  return new DomainError(reason, "Invalid API key");
}

function invalidToken(): DomainError {
  return new DomainError("invalid_token", "Invalid access token");
}

/** Looks a caller up. A member without a private space gets one, and is looked up again. */
async function withPrivateSpace<Row extends CallerRow>(
  db: Database,
  find: () => Promise<Row | null>,
): Promise<Row | null> {
  const row = await find();
  const mayHaveOne =
    row !== null && !row.user.removed && row.organization.is_home && !row.organization.deleted;
  if (!mayHaveOne || row.has_private_space) return row;
  await inTenant(db, row.organization, (sql) => ensurePrivateSpace(sql, row.organization, row.user.id));
  return find();
}

function keyCaller(row: KeyCallerRow): KeyCaller {
  return {
    principal: principalOf(row, row.key),
    expiresAtMs: row.key.expires_at === null ? Infinity : Date.parse(row.key.expires_at),
    isRevoked: row.key.revoked_at !== null,
    isHome: row.organization.is_home && !row.organization.deleted && !row.user.removed,
    isDeleted: row.organization.deleted,
    allowedNetworks: row.key.allowed_cidrs === null ? null : networksOf(row.key.allowed_cidrs),
  };
}

function principalOf(row: CallerRow, key: KeyCallerRow["key"] | null): Principal {
  const { removed: _removed, role, ...user } = row.user;
  const { id, num, name } = row.organization;
  return {
    authMethod: key === null ? "jwt" : "api_key",
    user,
    organization: { id, num, name, role },
    apiKeyId: key?.id ?? null,
    capabilities: new Set(key?.capabilities ?? CAPABILITIES),
    isScoped: key !== null && !key.all_spaces,
    isMadeByOther: key?.made_by_other ?? false,
    reach: new Map(row.spaces.map((space) => [space.id, space])),
  };
}
