/** Finds environment variables that are probably misspelled settings: nothing else would notice them. */

/** Prefixes that nothing but Holdfast uses: an unknown name with one of them is a mistake. */
const FAMILIES = /^(?:HOLDFAST|GCS|OIDC|KMS|RERANK|RATE_LIMIT)_/;
/** Variables of this project's tests, and those that Kubernetes sets in pods for services. */
const SET_BY_OTHERS =
  /^HOLDFAST_TEST_|_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP)(?:_\w+)?)?$/;
/** Shorter names are one slip away from too many other words: HOST and PORT from POST. */
const SHORTEST_NAME = 6;
const MOST_SLIPS = 2;

interface UnknownSetting {
  readonly name: string;
  /** The setting that was perhaps meant. */
  readonly nearest: string | undefined;
}

/**
 * Finds unknown variables that are at most two typing slips away from a known one, or have one of Holdfast's
 * own prefixes.
 */
export function findUnknownSettings(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): UnknownSetting[] {
  const names = new Set(known);
  return Object.entries(env).flatMap(([name, value]) => {
    if (names.has(name) || value === undefined || value.trim() === "") return [];
    const nearest = nearestOf(name, known);
    const isOurs = nearest !== undefined || (FAMILIES.test(name) && !SET_BY_OTHERS.test(name));
    return isOurs ? [{ name, nearest }] : [];
  });
}

/** Never shows the value: it may be a secret. */
export function describeUnknownSetting({ name, nearest }: UnknownSetting): string {
  return nearest === undefined
    ? `${name} is not a Holdfast setting and is ignored`
    : `${name} is not a Holdfast setting and is ignored; did you mean ${nearest}?`;
}

function nearestOf(name: string, known: readonly string[]): string | undefined {
  const candidates = known.flatMap((each) => {
    const most = each.length < SHORTEST_NAME * 2 ? 1 : MOST_SLIPS;
    if (each.length < SHORTEST_NAME || Math.abs(each.length - name.length) > most) return [];
    const slips = slipsBetween(name, each);
    return slips <= most ? [{ each, slips }] : [];
  });
  return candidates.toSorted((a, b) => a.slips - b.slips)[0]?.each;
}

/**
 * Damerau-Levenshtein distance (optimal string alignment): how many letters are missing, too many, wrong, or
 * exchanged with their neighbour.
 * @see https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance#Optimal_string_alignment_distance
 */
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
    before = last;
    last = current;
  }
  return last[b.length]!;
}
