/** The filters of the audit log, as its address has them and as the service takes them. */

export interface AuditAddress {
  readonly action?: string;
  readonly user?: string;
  /** Days where the person is; both belong to the range. */
  readonly from?: string;
  readonly to?: string;
  readonly outcome?: string;
  readonly resource?: string;
  /** How the actor was authenticated. */
  readonly by?: string;
}

export const FIELDS = ["action", "user", "from", "to", "outcome", "resource", "by"] as const;

const timeOf = (day: string, clock: string): string | undefined => {
  const time = new Date(`${day}T${clock}`);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
};

/** As the query parameter `filters`; undefined: all rows. */
export function filtersOf(address: AuditAddress): string | undefined {
  const { action, user, from, to, outcome, resource, by } = address;
  const filters = {
    action__startswith: action,
    actor_id: user,
    at__gte: from === undefined ? undefined : timeOf(from, "00:00:00"),
    at__lte: to === undefined ? undefined : timeOf(to, "23:59:59.999"),
    outcome,
    resource_id: resource,
    auth_method: by,
  };
  const text = JSON.stringify(filters);
  return text === "{}" ? undefined : text;
}
