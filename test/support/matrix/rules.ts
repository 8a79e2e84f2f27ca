/**
 * States who may do what, from the specification alone, so that the matrix test does not compare the service
 * with the service's own table.
 */

/** The capability that a key must have; a key without it is refused before anything is looked up. */
type Capability = "read" | "search" | "chat" | "write";
/** The resource that the path or the body names; the caller's rights to it decide. */
type Target = "space" | "public agent" | "organization" | "nothing";
/**
 * `operator`: the token's role `operators`, which no caller of the matrix has. `role`: any role in the space.
 * `write`: owner or editor. `owner`: owner, or admin for a shared space. `admin`: of the organization.
 */
type Needs = "operator" | "role" | "write" | "owner" | "admin" | "all";

export interface MatrixRule {
  readonly needs: Needs;
  readonly on: Target;
  /** The capability that a key needs; "no key" if the route takes access tokens only. */
  readonly key: Capability | "any key" | "no key";
  /** Access tokens for the API are none for this route, whose tokens name another audience. */
  readonly refusesTokens?: true;
  /** The status of a request without valid credentials, if it is not 401. */
  readonly unauthenticated?: 403;
  /**
   * The code of the 404 that an authorized caller gets, because the test names a nested resource that does
   * not exist.
   */
  readonly within?: string;
  /** The code of the 400 that an authorized caller gets. */
  readonly elsewise?: string;
  /** The `error.code` of the 422 that an authorized caller gets. */
  readonly unfit?: string;
  /**
   * Whether the organization's admin may do it without a role in a shared space. Default: true for what its
   * owner may.
   */
  readonly adminToo?: boolean;
  /** A target outside the caller's reach answers 200 with an empty list. */
  readonly narrows?: true;
}

const role = (key: Capability): MatrixRule => ({ needs: "role", on: "space", key });
const write = (rest: Partial<MatrixRule> = {}): MatrixRule => ({
  needs: "write",
  on: "space",
  key: "write",
  ...rest,
});
const listing = (key: Capability): MatrixRule => ({ needs: "all", on: "nothing", key, narrows: true });
const owner = (rest: Partial<MatrixRule> = {}): MatrixRule => ({
  needs: "owner",
  on: "space",
  key: "no key",
  ...rest,
});
const operator: MatrixRule = { needs: "operator", on: "nothing", key: "no key" };
const admin = (within?: string): MatrixRule => ({
  needs: "admin",
  on: "organization",
  key: "no key",
  ...(within === undefined ? {} : { within }),
});
const self = (within?: string): MatrixRule => ({
  needs: "all",
  on: "nothing",
  key: "no key",
  ...(within === undefined ? {} : { within }),
});

/** What the caller has made itself; the test names one that nobody has. */
const ofCaller = (key: Capability, within: string): MatrixRule => ({
  needs: "all",
  on: "nothing",
  key,
  within,
});
const mcp: MatrixRule = { needs: "all", on: "nothing", key: "any key", refusesTokens: true };
const WITHOUT_SESSION = "Bad Request: the header Mcp-Session-Id is required";

export const RULES_OF_ROUTES: Readonly<Record<string, MatrixRule>> = {
  "POST /mcp": mcp,
  "GET /mcp": { ...mcp, elsewise: WITHOUT_SESSION },
  "DELETE /mcp": { ...mcp, elsewise: WITHOUT_SESSION },
  "GET /v1/models": listing("chat"),
  "GET /v1/models/:model": role("chat"),
  "POST /v1/embeddings": { needs: "all", on: "nothing", key: "search" },
  "POST /v1/files": { needs: "all", on: "nothing", key: "write" },
  "GET /v1/files": { needs: "all", on: "nothing", key: "read" },
  "GET /v1/files/:file_id": role("read"),
  "DELETE /v1/files/:file_id": { needs: "all", on: "nothing", key: "write", within: "File not found" },
  "GET /v1/files/:file_id/content": role("read"),
  "POST /v1/vector_stores": write(),
  "GET /v1/vector_stores": listing("read"),
  "GET /v1/vector_stores/:vector_store_id": role("read"),
  "POST /v1/vector_stores/:vector_store_id": write(),
  "DELETE /v1/vector_stores/:vector_store_id": write(),
  "POST /v1/vector_stores/:vector_store_id/search": role("search"),
  "POST /v1/vector_stores/:vector_store_id/files": write(),
  "GET /v1/vector_stores/:vector_store_id/files": role("read"),
  "GET /v1/vector_stores/:vector_store_id/files/:file_id": role("read"),
  "POST /v1/vector_stores/:vector_store_id/files/:file_id": write(),
  "DELETE /v1/vector_stores/:vector_store_id/files/:file_id": write({ within: "File not found" }),
  "GET /v1/vector_stores/:vector_store_id/files/:file_id/content": role("read"),
  "POST /v1/vector_stores/:vector_store_id/file_batches": write(),
  "GET /v1/vector_stores/:vector_store_id/file_batches/:file_batch_id": role("read"),
  "POST /v1/vector_stores/:vector_store_id/file_batches/:file_batch_id/cancel": write(),
  "GET /v1/vector_stores/:vector_store_id/file_batches/:file_batch_id/files": role("read"),
  "POST /v1/chat/completions": role("chat"),
  "POST /v1/responses": role("chat"),
  "GET /v1/responses/:response_id": ofCaller("chat", "Response not found"),
  "DELETE /v1/responses/:response_id": ofCaller("chat", "Response not found"),
  "POST /v1/responses/:response_id/cancel": ofCaller("chat", "Response not found"),
  "GET /v1/responses/:response_id/input_items": ofCaller("chat", "Response not found"),
  "POST /v1/spaces/search": listing("read"),
  "POST /v1/spaces": self(),
  "GET /v1/spaces/:space_id": { needs: "role", on: "space", key: "no key", adminToo: true },
  "GET /v1/spaces/:space_id/deletion": owner(),
  "PATCH /v1/spaces/:space_id": owner(),
  "DELETE /v1/spaces/:space_id": owner(),
  "GET /v1/spaces/:space_id/members": owner(),
  "PUT /v1/spaces/:space_id/members/:user_id": owner({ within: "User not found" }),
  "DELETE /v1/spaces/:space_id/members/:user_id": owner({ within: "User not found" }),
  "POST /v1/agents/search": listing("read"),
  "GET /v1/agents/:agent_id": role("read"),
  "POST /v1/agents": write({ key: "no key" }),
  "GET /v1/agents/:agent_id/history": write({ key: "no key" }),
  "GET /v1/agents/:agent_id/deletion": write({ key: "no key" }),
  "PATCH /v1/agents/:agent_id": write({ key: "no key" }),
  "DELETE /v1/agents/:agent_id": write({ key: "no key" }),
  "POST /v1/data/upload": write(),
  "POST /v1/data/search": listing("read"),
  "GET /v1/data/:document_id": role("read"),
  "PATCH /v1/data/:document_id": write(),
  "GET /v1/data/:document_id/deletion": write(),
  "DELETE /v1/data/:document_id": write(),
  "GET /v1/data/:document_id/text": role("read"),
  "GET /v1/data/:document_id/chunks": role("read"),
  "GET /v1/data/:document_id/pages": { ...role("read"), unfit: "unsupported_file_type" },
  "GET /v1/data/:document_id/pages/:page_number": { ...role("read"), unfit: "unsupported_file_type" },
  "GET /v1/data/:document_id/versions": role("read"),
  "GET /v1/data/:document_id/integrity": role("read"),
  "POST /v1/data/:document_id/reprocess": write(),
  "POST /v1/data/:document_id/versions/:version/restore": write({ within: "Version not found" }),
  "GET /v1/data/runs/:pipeline_run_id": role("read"),
  "GET /v1/data/runs/:pipeline_run_id/attempts": role("read"),
  "POST /v1/data/runs/:pipeline_run_id/cancel": write({
    elsewise: "The run has already ended, so it cannot be cancelled.",
  }),
  "POST /v1/data/batch-reprocess": { ...listing("write") },
  "POST /v1/data/batch-move": listing("write"),
  "POST /v1/data/batch-delete": listing("write"),
  "POST /v1/data/hybrid-search": listing("search"),
  "POST /v1/data/hybrid-search/compare": listing("search"),
  "POST /v1/data/status": listing("read"),
  "POST /v1/spaces/:space_id/data/upload": write(),
  "GET /v1/spaces/:space_id/data/files": role("read"),
  "PATCH /v1/spaces/:space_id/data/rename": write({ within: "File not found" }),
  "DELETE /v1/spaces/:space_id/data/files": write({ within: "File not found" }),
  "GET /v1/spaces/:space_id/data/download": { ...role("read"), unauthenticated: 403 },
  "POST /v1/spaces/:space_id/data/folders": write({ key: "no key" }),
  "POST /v1/folders": write(),
  "POST /v1/folders/ensure": write(),
  "GET /v1/folders/space/:space_id": role("read"),
  "GET /v1/folders/:folder_id": role("read"),
  "GET /v1/folders/:folder_id/contents": role("read"),
  "PATCH /v1/folders/:folder_id": write(),
  "GET /v1/folders/:folder_id/deletion": write(),
  "DELETE /v1/folders/:folder_id": write(),
  "GET /v1/events": listing("read"),
  "GET /v1/events/stream": listing("read"),
  "GET /v1/receipts/jwks": listing("read"),
  "POST /v1/receipts/verify": listing("read"),
  "GET /v1/me": self(),
  "GET /v1/me/access": self(),
  "GET /v1/me/api-keys/:api_key_id/access": self("API key not found"),
  "GET /v1/me/api-keys": self(),
  "POST /v1/me/api-keys": self(),
  "DELETE /v1/me/api-keys/:api_key_id": self("API key not found"),
  "POST /v1/me/api-keys/:api_key_id/roll": self("API key not found"),
  "GET /v1/organizations/:organization_id": { needs: "all", on: "organization", key: "no key" },
  "PATCH /v1/organizations/:organization_id": admin(),
  "GET /v1/organizations/:organization_id/api-keys": admin(),
  "POST /v1/organizations/:organization_id/api-keys": admin("User not found"),
  "DELETE /v1/organizations/:organization_id/api-keys/:api_key_id": admin("API key not found"),
  "POST /v1/organizations/:organization_id/api-keys/:api_key_id/roll": admin("API key not found"),
  "GET /v1/organizations/:organization_id/api-keys/:api_key_id/access": admin("API key not found"),
  "GET /v1/organizations/:organization_id/members/:user_id/access": admin("User not found"),
  "GET /v1/organizations/:organization_id/members": admin(),
  "PUT /v1/organizations/:organization_id/members/:user_id": admin(),
  "DELETE /v1/organizations/:organization_id/members/:user_id": admin("User not found"),
  "GET /v1/organizations/:organization_id/members/:user_id/deletion": admin("User not found"),
  "GET /v1/organizations/:organization_id/audit-log": admin(),
  "GET /v1/organizations/:organization_id/audit-log/chain": admin(),
  "GET /v1/organizations/:organization_id/token-budgets": admin(),
  "GET /v1/organizations/:organization_id/usage": admin(),
  "GET /v1/webhooks": self(),
  "POST /v1/webhooks": owner({ adminToo: false }),
  "GET /v1/webhooks/:webhook_id": owner({ adminToo: false }),
  "PATCH /v1/webhooks/:webhook_id": owner({ adminToo: false }),
  "DELETE /v1/webhooks/:webhook_id": owner({ adminToo: false }),
  "POST /v1/webhooks/:webhook_id/secret/roll": owner({ adminToo: false }),
  "POST /v1/webhooks/:webhook_id/test": owner({ adminToo: false }),
  "GET /v1/webhooks/:webhook_id/deliveries": owner({ adminToo: false }),
  "POST /v1/webhooks/:webhook_id/deliveries/:delivery_id/redeliver": owner({
    adminToo: false,
    within: "Delivery not found",
  }),
  "POST /v1/webhooks/:webhook_id/replay": owner({
    adminToo: false,
    elsewise: "A webhook may have at most 3 replays in progress",
  }),
  "GET /v1/operations/dependencies": operator,
  "GET /v1/operations/queues": operator,
  "GET /v1/operations/waiting": operator,
  "GET /v1/operations/orphans": operator,
  "GET /v1/operations/long-running": operator,
  "GET /v1/operations/processes": operator,
};

/** A batch is visible only to the caller who started it, whatever role others have. */
export const RULES_OF_BATCHES: Readonly<Record<string, Capability>> = {
  "GET /v1/data/batches/:batch_id": "read",
  "GET /v1/data/batches/:batch_id/results": "read",
  "POST /v1/data/batches/:batch_id/pause": "write",
  "POST /v1/data/batches/:batch_id/resume": "write",
  "POST /v1/data/batches/:batch_id/cancel": "write",
};

export interface MatrixCaller {
  readonly name: string;
  readonly token: string | null;
  /** Whether the credentials are valid. "left" means that their user is no longer a member. */
  readonly standing: "good" | "bad" | "left";
  readonly isKey: boolean;
  readonly organization: "acme" | "rival";
  readonly isAdmin: boolean;
  readonly roles: Readonly<Partial<Record<SpaceName, "owner" | "editor" | "viewer">>>;
  /** The spaces that the key was narrowed to. */
  readonly onlySpaces?: readonly SpaceName[];
  readonly onlyCapability?: Capability;
}

/** `diary` is the viewer's private space. */
export type SpaceName = "research" | "archive" | "rival" | "diary";
export type Expected = "allowed" | 401 | 403 | 404;
const HOME: Readonly<Record<SpaceName, "acme" | "rival">> = {
  research: "acme",
  archive: "acme",
  rival: "rival",
  diary: "acme",
};

/** Returns the caller's role in the space; undefined if the space does not exist for the caller. */
export function roleIn(caller: MatrixCaller, space: SpaceName): "owner" | "editor" | "viewer" | undefined {
  return caller.onlySpaces?.includes(space) === false ? undefined : caller.roles[space];
}

/** A token has every capability, and so does a key that was not narrowed. */
export function hasCapability(
  { isKey, onlyCapability }: MatrixCaller,
  capability: MatrixRule["key"],
): boolean {
  return !isKey || capability === "any key" || onlyCapability === undefined || onlyCapability === capability;
}

const isForeignToken = ({ isKey }: MatrixCaller, { refusesTokens }: MatrixRule): boolean =>
  refusesTokens === true && !isKey;

/** Returns what the specification demands of one cell of the matrix. */
export function expected(caller: MatrixCaller, rule: MatrixRule, space: SpaceName): Expected {
  // Nothing of the caller is looked up: whether it is a token, and gives the role, decides.
  if (rule.needs === "operator") return caller.isKey ? 401 : 403;
  if (caller.standing === "bad") return rule.unauthenticated ?? 401;
  if (isForeignToken(caller, rule)) return 401;
  if (caller.standing === "left") return 403;
  if (caller.isKey && rule.key === "no key") return 401;
  if (!hasCapability(caller, rule.key)) return 403;
  if (rule.on === "nothing") return "allowed";
  return rule.on === "organization" ? onOrganization(caller, rule, space) : onSpace(caller, rule, space);
}

function onOrganization(caller: MatrixCaller, rule: MatrixRule, space: SpaceName): Expected {
  if (caller.organization !== HOME[space]) return 404;
  return caller.isAdmin || rule.needs === "all" ? "allowed" : 403;
}

function onSpace(caller: MatrixCaller, rule: MatrixRule, space: SpaceName): Expected {
  const has = roleIn(caller, space);
  const isColleague = caller.organization === HOME[space] && caller.onlySpaces === undefined;
  const isManaged = rule.adminToo ?? rule.needs === "owner";
  if (isManaged && isColleague && caller.isAdmin && space !== "diary") return "allowed";
  if (has === undefined && !(isColleague && rule.on === "public agent")) return 404;
  return satisfies(has, rule.needs) ? "allowed" : 403;
}

function satisfies(has: "owner" | "editor" | "viewer" | undefined, needs: Needs): boolean {
  if (needs === "role") return true;
  return has === "owner" || (needs === "write" && has === "editor");
}
