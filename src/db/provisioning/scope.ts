/** What the parts of one organization in a provisioning file refer to each other by. */
import type { OrganizationRef } from "../sql.ts";

export interface Scope {
  readonly organization: OrganizationRef;
  readonly userIds: Map<string, string>;
  /** Ids of shared spaces by name in lower case. */
  readonly spaceIds: Map<string, string>;
}
