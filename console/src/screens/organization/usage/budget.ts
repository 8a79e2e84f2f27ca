export interface Budget {
  readonly policy: string;
  readonly quota: number;
  readonly left: number;
  readonly seconds: number;
}

/** The budget with the least left, as the service says with each answer. */
export function budgetOf(headers: Headers): Budget | undefined {
  const policy = /^"([^"]+)"/.exec(headers.get("ratelimit-policy") ?? "")?.[1];
  const [quota, left, seconds] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`ratelimit-${name}`) ?? Number.NaN),
  );
  if (policy === undefined || quota === undefined || left === undefined || seconds === undefined)
    return undefined;
  return Number.isNaN(quota + left + seconds) ? undefined : { policy, quota, left, seconds };
}
