/** The caller's own API keys. */
import { issueApiKey, rollApiKey } from "../../../auth/issue-api-key.ts";
import { PEPPER } from "../../../auth/api-keys.ts";
import { listApiKeys, revokeApiKey } from "../../../db/keys/api-keys.ts";
import { loadInstanceSecret } from "../../../db/instance/secrets.ts";
import { inTenant } from "../../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { DomainError } from "../../../domain/errors.ts";
import type { Capability, Principal } from "../../../domain/tenancy/principal.ts";
import { pageOf } from "../../../schema/common.ts";
import {
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyPage,
  ApiKeyParams,
  ApiKeyQuery,
  ApiKeyRoll,
  DEFAULT_OVERLAP_SECONDS,
} from "../../../schema/key.ts";
import { auditChange } from "../../audit-change.ts";
import { boundedExpiry, requireRoomForKey, requireRoomForNewExpiry } from "../../validation/key-bounds.ts";
import { defineRoute, type RouteRequest } from "../../route.ts";

const listOwnKeys = defineRoute({
  method: "GET",
  path: "/me/api-keys",
  access: "jwt",
  audit: { action: "api_keys:read", resource: "api_key" },
  status: 200,
  summary: "List the caller's API keys, revoked ones too.",
  tags: ["API keys"],
  query: ApiKeyQuery,
  response: ApiKeyPage,
  async handle({ deps, principal, query }) {
    const search = { ...query, organizationId: principal.organization.id, userId: principal.user.id };
    const { items, total } = await inTenant(deps.db, principal.organization, (sql) =>
      listApiKeys(sql, search, query),
    );
    return pageOf(items, total, query);
  },
});

const createOwnKey = defineRoute({
  method: "POST",
  path: "/me/api-keys",
  access: "jwt",
  audit: { action: "api_keys:create", resource: "api_key" },
  status: 201,
  summary: "Make an API key; its text is shown only in this answer.",
  tags: ["API keys"],
  body: ApiKeyCreate,
  response: ApiKeyCreated,
  replyHeaders: { "Cache-Control": "no-store" },
  errors: [404],
  async handle({ deps, principal, body, request, reply }) {
    reply.header("Cache-Control", "no-store");
    return createKey(deps, { principal, request }, { ...body, user_id: principal.user.id });
  },
});

const revokeOwnKey = defineRoute({
  method: "DELETE",
  path: "/me/api-keys/:api_key_id",
  access: "jwt",
  audit: { action: "api_keys:revoke", resource: "api_key" },
  status: 204,
  summary: "Revoke one of the caller's API keys; it is refused everywhere within 5 seconds.",
  tags: ["API keys"],
  params: ApiKeyParams,
  async handle({ deps, principal, params, request }) {
    await revokeKey(deps, { principal, request }, { id: params.api_key_id, userId: principal.user.id });
  },
});

const rollOwnKey = defineRoute({
  method: "POST",
  path: "/me/api-keys/:api_key_id/roll",
  access: "jwt",
  audit: { action: "api_keys:roll", resource: "api_key" },
  status: 201,
  summary:
    "Give one of the caller's API keys a new text, shown only in this answer; the one of before is accepted for a while.",
  description:
    "All else of the key stays: its id, spaces, capabilities, addresses and budget. Revoking it revokes both texts. At most 20 times a day, then 429.",
  tags: ["API keys"],
  params: ApiKeyParams,
  body: ApiKeyRoll,
  response: ApiKeyCreated,
  replyHeaders: { "Cache-Control": "no-store" },
  async handle({ deps, principal, params, body, request, reply }) {
    reply.header("Cache-Control", "no-store");
    return rollKey(deps, { principal, request }, { ...body, id: params.api_key_id, isAdmin: false });
  },
});

export const ownKeyRoutes = [listOwnKeys, createOwnKey, revokeOwnKey, rollOwnKey];

interface Caller {
  readonly principal: Principal;
  readonly request: RouteRequest;
}

interface WantedKey {
  readonly user_id: string;
  readonly name: string;
  readonly spaces?: readonly string[] | null | undefined;
  readonly expires_at?: string | null | undefined;
  readonly capabilities?: readonly Capability[] | null | undefined;
  readonly allowed_cidrs?: readonly string[] | null | undefined;
}

/**
 * @throws DomainError `not_found` for a space that the key's owner has no role in, or that is private to an owner who is not the caller;
 * `bad_request` if the owner has as many keys as are allowed; ValidationProblems for an expiry that is past or beyond the organization's maximum.
 */
export async function createKey(deps: Deps, caller: Caller, wanted: WantedKey) {
  const { organization, user } = caller.principal;
  const pepper = await loadInstanceSecret(deps.db, PEPPER, deps.masterKey);
  const capabilities =
    wanted.capabilities === null || wanted.capabilities === undefined
      ? null
      : [...new Set(wanted.capabilities)];
  return inTenant(deps.db, organization, async (sql) => {
    const expiresAt = await boundedExpiry(sql, organization.id, wanted.expires_at);
    await requireRoomForKey(sql, wanted.user_id, deps.config.limits.keysPerUser);
    const key = await issueApiKey(sql, pepper, organization, {
      userId: wanted.user_id,
      createdBy: user.id,
      name: wanted.name,
      spaces: wanted.spaces ?? null,
      expiresAt,
      capabilities,
      allowedCidrs: wanted.allowed_cidrs ?? null,
    });
    await auditChange(sql, caller, "api_keys:create", { type: "api_key", id: key.id });
    return key;
  });
}

interface WantedRoll {
  readonly id: string;
  readonly isAdmin: boolean;
  readonly overlap_seconds?: number | undefined;
  readonly expires_at?: string | null | undefined;
}

/** @throws as {@link rollApiKey} does; `bad_request` if a new expiry would make it one key too many; ValidationProblems for an expiry that is past or beyond the organization's maximum. */
export async function rollKey(deps: Deps, caller: Caller, wanted: WantedRoll) {
  const { organization, user } = caller.principal;
  const {
    id,
    isAdmin,
    overlap_seconds: overlapSeconds = DEFAULT_OVERLAP_SECONDS,
    expires_at: wantedExpiry,
  } = wanted;
  const pepper = await loadInstanceSecret(deps.db, PEPPER, deps.masterKey);
  const rolled = await inTenant(deps.db, organization, async (sql) => {
    const newExpiry =
      wantedExpiry === null || wantedExpiry === undefined
        ? undefined
        : await boundedExpiry(sql, organization.id, wantedExpiry);
    if (newExpiry !== undefined)
      await requireRoomForNewExpiry(
        sql,
        { id, organizationId: organization.id, userId: isAdmin ? null : user.id },
        deps.config.limits.keysPerUser,
      );
    const key = await rollApiKey(sql, pepper, organization, {
      id,
      userId: user.id,
      isAdmin,
      overlapSeconds,
      expiresAt: (before) => newExpiry ?? before,
    });
    await auditChange(sql, caller, "api_keys:roll", { type: "api_key", id });
    return key;
  });
  deps.authenticator.forgetUser(rolled.user_id);
  return rolled;
}

/** @throws DomainError `not_found` where there is no such key, or it is not the user's. */
export async function revokeKey(
  deps: Deps,
  caller: Caller,
  key: { readonly id: string; readonly userId: string },
): Promise<void> {
  await inTenant(deps.db, caller.principal.organization, async (sql) => {
    if (!(await revokeApiKey(sql, key.id, key.userId)))
      throw new DomainError("not_found", "API key not found");
    await auditChange(sql, caller, "api_keys:revoke", { type: "api_key", id: key.id });
  });
  deps.authenticator.forgetUser(key.userId);
}
