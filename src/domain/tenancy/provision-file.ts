/** A provisioning file as its reader returns it. A field that is missing stays as it is in the database. */
import type { AgentChanges } from "./agent-values.ts";
import type { Capability, OrganizationRole, SpaceRole } from "./principal.ts";

/** The name that stands for the owner's private space in a key's list of spaces. */
export const PRIVATE_SPACE = "private";

export interface ProvisionFile {
  readonly organizations: readonly ProvisionOrganization[];
}

export interface ProvisionOrganization {
  readonly name: string;
  readonly id?: string | undefined;
  /** Null means no bound. */
  readonly max_key_lifetime_seconds?: number | null | undefined;
  /** Null means that keys do not expire unless their maker says so. */
  readonly default_key_lifetime_seconds?: number | null | undefined;
  readonly users?: readonly ProvisionUser[] | undefined;
  readonly spaces?: readonly ProvisionSpace[] | undefined;
}

export interface ProvisionUser {
  /** In lower case. */
  readonly email: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly avatar_url?: string | null | undefined;
  readonly role?: OrganizationRole | undefined;
  /** Whom the issuer's tokens name. Null unbinds the user. */
  readonly subject?: string | null | undefined;
  readonly api_keys?: readonly ProvisionApiKey[] | undefined;
}

export interface ProvisionApiKey {
  readonly name: string;
  /** The key's own text; without it a new key is made, and its text is returned once. */
  readonly key?: string | undefined;
  /** Names of spaces; {@link PRIVATE_SPACE} is the user's own. */
  readonly spaces?: "all" | readonly string[] | undefined;
  readonly capabilities?: readonly Capability[] | undefined;
  /** ISO 8601 with its offset. Null means never. */
  readonly expires_at?: string | null | undefined;
  /** Null means that it may be used from everywhere. */
  readonly allowed_cidrs?: readonly string[] | null | undefined;
}

export interface ProvisionSpace {
  readonly name: string;
  readonly id?: string | undefined;
  /** Roles by e-mail address in lower case. */
  readonly members?: Readonly<Record<string, SpaceRole>> | undefined;
  readonly agents?: readonly ProvisionAgent[] | undefined;
}

export interface ProvisionAgent extends AgentChanges {
  readonly name: string;
  readonly id?: string | undefined;
  readonly from_system?: boolean | undefined;
  /** Three numbers, such as `1.0.0`. Without it, the last one is raised by each change. */
  readonly version?: string | undefined;
}
