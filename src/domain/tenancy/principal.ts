/** Who makes a request, and which spaces they reach: computed once for it, taken by every query. */

export type SpaceRole = "owner" | "editor" | "viewer";
export type OrganizationRole = "admin" | "member";
export const CAPABILITIES = ["read", "search", "chat", "write"] as const;
export type Capability = (typeof CAPABILITIES)[number];

export interface ReachedSpace {
  readonly id: string;
  readonly num: number;
  readonly role: SpaceRole;
  readonly is_private: boolean;
}

/** The spaces that a caller reaches, by id. For the caller no other space exists. */
export type Reach = ReadonlyMap<string, ReachedSpace>;

export interface Principal {
  readonly authMethod: "api_key" | "jwt";
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly avatar_url: string | null;
  };
  readonly organization: {
    readonly id: string;
    readonly num: number;
    readonly name: string;
    readonly role: OrganizationRole;
  };
  readonly apiKeyId: string | null;
  /** Present for tokens that give the role `operators`, which is of the instance and of no organization. */
  readonly isOperator?: true;
  readonly capabilities: ReadonlySet<Capability>;
  /** True if the key is limited to certain spaces. */
  readonly isScoped: boolean;
  /** True if somebody else made the key for its owner; one that a provisioning file made is the owner's. */
  readonly isMadeByOther: boolean;
  readonly reach: Reach;
}

/** The ids of all spaces of the reach, for `= any($n)`. */
export function reachedSpaceIds(reach: Reach): string[] {
  return [...reach.keys()];
}
