/** Who asks, and what that caller reaches. Computed once a request; every query that lists or searches takes it. */

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

/** The spaces that a caller reaches, by id. A space that is not in it does not exist for the caller. */
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
  readonly capabilities: ReadonlySet<Capability>;
  /** True where a key was narrowed to chosen spaces. */
  readonly isScoped: boolean;
  readonly reach: Reach;
}

/** The ids of every space reached, for `= any($n)`. */
export function reachedSpaceIds(reach: Reach): string[] {
  return [...reach.keys()];
}
