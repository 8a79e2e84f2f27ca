/** The caller's own API keys. */
import { issueApiKey } from "../../auth/issue-api-key.ts";
import { PEPPER } from "../../auth/api-keys.ts";
import { listApiKeys, revokeApiKey } from "../../db/api-keys.ts";
import { loadInstanceSecret } from "../../db/instance-secrets.ts";
import { inTenant } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { DomainError } from "../../domain/errors.ts";
import type { Capability, Principal } from "../../domain/principal.ts";
import { pageOf } from "../../schema/common.ts";
import { ApiKeyCreate, ApiKeyCreated, ApiKeyPage, ApiKeyParams, ApiKeyQuery } from "../../schema/key.ts";
import { ValidationProblems, valueError } from "../../schema/problem.ts";
import { auditChange } from "../audit-change.ts";
import { defineRoute, type RouteRequest } from "../route.ts";

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
    const owner = { organizationId: principal.organization.id, userId: principal.user.id };
    const { items, total } = await inTenant(deps.db, principal.organization, (sql) => listApiKeys(sql, owner, query));
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

export const ownKeyRoutes = [listOwnKeys, createOwnKey, revokeOwnKey];

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
}

/** @throws DomainError `not_found` for a space that the key's owner has no role in; ValidationProblems for a key that would be expired. */
export async function createKey(deps: Deps, caller: Caller, wanted: WantedKey) {
  const { organization } = caller.principal;
  const expiresAt = wanted.expires_at === null || wanted.expires_at === undefined ? null : new Date(wanted.expires_at);
  if (expiresAt !== null && expiresAt.getTime() <= Date.now()) throw new ValidationProblems([valueError(["body", "expires_at"], "must be in the future", wanted.expires_at)]);
  const pepper = await loadInstanceSecret(deps.db, PEPPER, deps.masterKey);
  const capabilities = wanted.capabilities === null || wanted.capabilities === undefined ? null : [...new Set(wanted.capabilities)];
  return inTenant(deps.db, organization, async (sql) => {
    const key = await issueApiKey(sql, pepper, organization, { userId: wanted.user_id, name: wanted.name, spaces: wanted.spaces ?? null, expiresAt, capabilities });
    await auditChange(sql, caller, "api_keys:create", { type: "api_key", id: key.id });
    return key;
  });
}

/** @throws DomainError `not_found` where there is no such key, or it is not the user's. */
export async function revokeKey(deps: Deps, caller: Caller, key: { readonly id: string; readonly userId: string }): Promise<void> {
  await inTenant(deps.db, caller.principal.organization, async (sql) => {
    if (!(await revokeApiKey(sql, key.id, key.userId))) throw new DomainError("not_found", "API key not found");
    await auditChange(sql, caller, "api_keys:revoke", { type: "api_key", id: key.id });
  });
  deps.authenticator.forgetUser(key.userId);
}
