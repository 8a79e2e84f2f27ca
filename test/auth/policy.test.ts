import { describe, expect, it } from "vitest";
import {
  type Action,
  authorize,
  authorizeListing,
  decide,
  type Decision,
  reachFor,
  RULES,
} from "../../src/auth/policy.ts";
import type { DomainError } from "../../src/domain/errors.ts";
import type { ResourceKind } from "../../src/domain/not-found.ts";
import {
  CAPABILITIES,
  type Capability,
  type OrganizationRole,
  type Principal,
  type SpaceRole,
} from "../../src/domain/tenancy/principal.ts";

const SPACE = "01900000-0000-7000-8000-000000000010";
const OWN = "01900000-0000-7000-8000-000000000001";
const OTHER = "01900000-0000-7000-8000-000000000002";

interface Who {
  readonly role?: SpaceRole | null;
  readonly organizationRole?: OrganizationRole;
  readonly capabilities?: readonly Capability[];
  readonly isScoped?: boolean;
}

function principal({
  role = null,
  organizationRole = "member",
  capabilities = CAPABILITIES,
  isScoped = false,
}: Who): Principal {
  return {
    authMethod: "api_key",
    user: { id: "u", email: "u@example.org", name: "U", avatar_url: null },
    organization: { id: OWN, num: 1, name: "Own", role: organizationRole },
    apiKeyId: "k",
    capabilities: new Set(capabilities),
    isScoped,
    isMadeByOther: false,
    reach: new Map(role === null ? [] : [[SPACE, { id: SPACE, num: 1, role, is_private: false }]]),
  };
}

/** The rules, written down a second time: who may do it, what a key needs, and the text of the refusal. */
const EXPECTED: Record<Action, readonly [who: string, capability: Capability, denial: string]> = {
  "spaces:read": ["viewer editor owner", "read", "Permission denied: spaces:read"],
  "spaces:create": ["member admin", "write", "Permission denied: spaces:create"],
  "spaces:manage": ["owner", "write", "Permission denied: spaces:manage"],
  "documents:read": ["viewer editor owner", "read", "Permission denied: documents:read"],
  "documents:search": ["viewer editor owner", "search", "Permission denied: documents:search"],
  "documents:create": ["editor owner", "write", "Permission denied: documents:create"],
  "documents:update": ["editor owner", "write", "Permission denied: documents:update"],
  "documents:delete": ["editor owner", "write", "Permission denied: documents:delete"],
  "documents:reprocess": ["editor owner", "write", "Permission denied: documents:reprocess"],
  "files:read": ["viewer editor owner", "read", "Permission denied: files:read"],
  "files:create": ["editor owner", "write", "Permission denied: files:create"],
  "files:rename": ["editor owner", "write", "Permission denied: files:rename"],
  "files:delete": ["editor owner", "write", "Permission denied: files:delete"],
  "user_files:read": ["member admin", "read", "Permission denied: files:read"],
  "user_files:create": ["member admin", "write", "Permission denied: files:create"],
  "user_files:delete": ["member admin", "write", "Permission denied: files:delete"],
  "folders:read": ["viewer editor owner", "read", "Permission denied: read on folders"],
  "folders:create": ["editor owner", "write", "Permission denied: write on folders"],
  "folders:write": ["editor owner", "write", "Permission denied: write on folders"],
  "agents:read": ["viewer editor owner", "read", "Permission denied: agents:read"],
  "agents:chat": ["viewer editor owner", "chat", "Permission denied: agents:chat"],
  "agents:create": ["editor owner", "write", "Permission denied: agents:write"],
  "agents:write": ["editor owner", "write", "Permission denied: agents:write"],
  "webhooks:manage": ["owner", "write", "Permission denied: webhooks:manage"],
  "webhooks:administer": ["admin", "write", "Permission denied: webhooks:manage"],
  "events:read": ["member admin", "read", "Permission denied: events:read"],
  "organization:read": ["member admin", "read", "Permission denied: organization:read"],
  "organization:manage": ["admin", "write", "Permission denied: organization:manage"],
};

const ACTIONS = Object.keys(EXPECTED) as Action[];
const OF_ORGANIZATION = new Set<Action>([
  "spaces:create",
  "webhooks:administer",
  "events:read",
  "user_files:read",
  "user_files:create",
  "user_files:delete",
  "organization:read",
  "organization:manage",
]);
const IN_SPACE = ACTIONS.filter((action) => !OF_ORGANIZATION.has(action));
const ROLES = [null, "viewer", "editor", "owner"] as const;

describe("every action", () => {
  it("is in the table of this test", () => {
    expect(ACTIONS.toSorted()).toEqual(Object.keys(RULES).toSorted());
  });

  const cells = IN_SPACE.flatMap((action) =>
    ROLES.flatMap((role) =>
      (["member", "admin"] as const).map((organizationRole) => ({ action, role, organizationRole })),
    ),
  );
  it.each(cells)("$action by $role, $organizationRole", ({ action, role, organizationRole }) => {
    const allowed = EXPECTED[action][0].split(" ");
    const expected: Decision = role === null ? "not_found" : allowed.includes(role) ? "allow" : "forbidden";
    expect(decide(principal({ role, organizationRole }), action, { space_id: SPACE })).toBe(expected);
  });

  it.each(IN_SPACE)(
    "%s needs its capability, and a key without it is told so only of what it reaches",
    (action) => {
      const [, capability] = EXPECTED[action];
      const lacking = CAPABILITIES.filter((other) => other !== capability);
      expect(
        decide(principal({ role: "owner", capabilities: [capability] }), action, { space_id: SPACE }),
      ).toBe("allow");
      expect(decide(principal({ role: "owner", capabilities: lacking }), action, { space_id: SPACE })).toBe(
        "forbidden",
      );
      expect(decide(principal({ role: null, capabilities: lacking }), action, { space_id: SPACE })).toBe(
        "not_found",
      );
    },
  );

  it.each(IN_SPACE)("%s on nothing, or on something outside every space, is not found", (action) => {
    expect(decide(principal({ role: "owner" }), action, null)).toBe("not_found");
    expect(decide(principal({ role: "owner" }), action, undefined)).toBe("not_found");
    expect(
      decide(principal({ role: "owner", organizationRole: "admin" }), action, { organization_id: OWN }),
    ).toBe("not_found");
  });

  it.each(
    [...OF_ORGANIZATION].flatMap((action) =>
      (["member", "admin"] as const).map((role) => [action, role] as const),
    ),
  )("%s by %s of the organization, and of another", (action, organizationRole) => {
    const who = principal({ organizationRole });
    expect(decide(who, action, { organization_id: OWN })).toBe(
      EXPECTED[action][0].split(" ").includes(organizationRole) ? "allow" : "forbidden",
    );
    expect(decide(who, action, { organization_id: OTHER })).toBe("not_found");
    expect(decide(who, action, {})).toBe("not_found");
  });
});

describe("authorize", () => {
  const WITHOUT_SEARCH = "Permission denied: the API key lacks the capability search";
  const refusal = (who: Who, action: Action, missing?: ResourceKind): DomainError => {
    try {
      authorize(principal(who), action, { space_id: SPACE }, missing);
    } catch (error) {
      return error as DomainError;
    }
    throw new Error("it was allowed");
  };

  it.each(IN_SPACE.filter((action) => !EXPECTED[action][0].includes("viewer")))(
    "tells a viewer the exact detail of %s",
    (action) => {
      const error = refusal({ role: "viewer" }, action);
      expect([error.status, error.message]).toEqual([403, EXPECTED[action][2]]);
      expect(error.reason).toBe("permission_denied");
    },
  );

  it("tells a stranger the same as of what does not exist", () => {
    const error = refusal({ role: null }, "documents:delete");
    expect([error.status, error.message]).toEqual([404, "Document not found"]);
    expect(error.reason).toBe("document_not_found");
    expect(refusal({ role: null }, "documents:read", "run").message).toBe("Run not found");
  });

  it("lets lists and searches pass whatever the reach, but not without the capability", () => {
    authorizeListing(principal({ role: null }), "documents:search");
    expect(() =>
      authorizeListing(principal({ role: "owner", capabilities: ["read"] }), "documents:search"),
    ).toThrow(WITHOUT_SEARCH);
  });

  it("tells a key what it was made without, as every route does, and the role only behind that", () => {
    const error = refusal({ role: "viewer", capabilities: ["chat"] }, "documents:search");
    expect([error.status, error.reason, error.message]).toEqual([403, "key_out_of_scope", WITHOUT_SEARCH]);
    expect(refusal({ role: null, capabilities: ["chat"] }, "documents:search").status).toBe(404);
  });
});

describe("public agents", () => {
  const agent = { space_id: SPACE, organization_id: OWN, is_public: true };

  it("are everyone's in the organization to read and to chat with, not to change", () => {
    expect(decide(principal({}), "agents:chat", agent)).toBe("allow");
    expect(decide(principal({}), "agents:read", agent)).toBe("allow");
    expect(decide(principal({}), "agents:write", agent)).toBe("forbidden");
  });

  it("are out of reach elsewhere, for a key narrowed to other spaces, and without the capability", () => {
    expect(decide(principal({}), "agents:chat", { ...agent, organization_id: OTHER })).toBe("not_found");
    expect(decide(principal({}), "agents:chat", { ...agent, is_public: false })).toBe("not_found");
    expect(decide(principal({ isScoped: true }), "agents:chat", agent)).toBe("not_found");
    expect(decide(principal({ capabilities: ["read"] }), "agents:chat", agent)).toBe("forbidden");
  });
});

describe("an admin without a role in the space", () => {
  const space = { space_id: SPACE, organization_id: OWN, is_private: false };

  it("manages a shared space of the organization and reads nothing in it", () => {
    const admin = principal({ organizationRole: "admin" });
    expect(decide(admin, "spaces:manage", space)).toBe("allow");
    expect(decide(admin, "documents:read", space)).toBe("not_found");
    expect(decide(admin, "documents:search", space)).toBe("not_found");
  });

  it("does not manage private spaces, nor those of others, nor with a narrowed key", () => {
    expect(
      decide(principal({ organizationRole: "admin" }), "spaces:manage", { ...space, is_private: true }),
    ).toBe("not_found");
    expect(
      decide(principal({ organizationRole: "admin" }), "spaces:manage", { ...space, organization_id: OTHER }),
    ).toBe("not_found");
    expect(decide(principal({ organizationRole: "admin", isScoped: true }), "spaces:manage", space)).toBe(
      "not_found",
    );
    expect(decide(principal({ organizationRole: "member" }), "spaces:manage", space)).toBe("not_found");
  });
});

describe("reachFor", () => {
  it("keeps the spaces in which the action is allowed", () => {
    expect([...reachFor(principal({ role: "viewer" }), "documents:search").keys()]).toEqual([SPACE]);
    expect(reachFor(principal({ role: "viewer" }), "documents:reprocess").size).toBe(0);
    expect(reachFor(principal({ role: "editor" }), "documents:reprocess").size).toBe(1);
    expect(reachFor(principal({ role: "owner", capabilities: ["chat"] }), "documents:search").size).toBe(0);
  });
});
