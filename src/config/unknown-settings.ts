/** The only place that finds variables which look like settings and are none: a slip in a name would else be passed over in silence. */

/** Names of ours alone: what begins so and is not known can be nothing else. */
const FAMILIES = /^(?:HOLDFAST|GCS|OIDC|KMS|RERANK|RATE_LIMIT)_/;
/** What others set: for tests of this project, and what Kubernetes tells each pod of the services beside it. */
const OF_OTHERS =
  /^HOLDFAST_TEST_|_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP)(?:_\w+)?)?$/;
/** Shorter ones are near to too much else: HOST and PORT to POST. */
const SHORTEST_NAME = 6;
const MOST_SLIPS = 2;

interface UnknownSetting {
  readonly name: string;
  /** The setting that was meant, perhaps. */
  readonly nearest: string | undefined;
}

/** Variables of `env` that are set, are none of `known`, and are two slips at most away from one of them, or have a name of our families. Bounded by the size of `env`. */
export function findUnknownSettings(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): UnknownSetting[] {
  const names = new Set(known);
  return Object.entries(env).flatMap(([name, value]) => {
    if (names.has(name) || value === undefined || value.trim() === "") return [];
    const nearest = nearestOf(name, known);
    const isOurs = nearest !== undefined || (FAMILIES.test(name) && !OF_OTHERS.test(name));
    return isOurs ? [{ name, nearest }] : [];
  });
}

/** A line for whoever set it. The value is not in it: it may be a secret. */
export function describeUnknownSetting({ name, nearest }: UnknownSetting): string {
  return nearest === undefined
    ? `${name} is no setting of Holdfast, and is passed over`
    : `${name} is no setting of Holdfast, and is passed over: did you mean ${nearest}?`;
}

function nearestOf(name: string, known: readonly string[]): string | undefined {
  const near = known.flatMap((each) => {
    const most = each.length < SHORTEST_NAME * 2 ? 1 : MOST_SLIPS;
    if (each.length < SHORTEST_NAME || Math.abs(each.length - name.length) > most) return [];
    const slips = slipsBetween(name, each);
    return slips <= most ? [{ each, slips }] : [];
  });
  return near.toSorted((a, b) => a.slips - b.slips)[0]?.each;
}

/** Damerau-Levenshtein distance (optimal string alignment): letters that are missing, too many, wrong, or exchanged with the next. */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + cost);
      const isExchanged =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isExchanged) least = Math.min(least, before[column - 2]! + 1);
      current.push(least);
    }
    [before, last] = [last, current];
  }
  return last[b.length]!;
}
