/** Lists a store's objects over as many of its answers as that takes: a page may hold fewer names than were asked for, and names that are not Holdfast's. */
import { type ListedObject, type ListOptions, isStoredName, unavailable } from "../object-store.ts";

interface Page {
  readonly objects: readonly ListedObject[];
  /** Where the next page begins, in the store's own words; undefined behind the last one. */
  readonly next: string | undefined;
}

/** Asks for at most `size` names, 1–1000. */
type AskPage = (next: string | undefined, size: number) => Promise<Page>;

/** What stores answer with at most. */
const LARGEST_PAGE = 1_000;
/** So many pages in a row without a name of ours: the store goes round in a circle, or the bucket is somebody else's. */
const MOST_EMPTY_PAGES = 1_000;

/**
 * As `ObjectStore.list`, with a store that answers by pages. With an empty prefix every name is listed, since that asks only whether the store answers.
 * @throws DomainError `storage_unavailable` where the pages have no end.
 */
export async function listByPages(
  prefix: string,
  { after, limit }: ListOptions,
  ask: AskPage,
): Promise<ListedObject[]> {
  const found: ListedObject[] = [];
  let next: string | undefined;
  for (let empty = 0; empty < MOST_EMPTY_PAGES; empty += 1) {
    // Some stores begin with `after` itself.
    const page = await ask(
      next,
      Math.min(LARGEST_PAGE, limit - found.length + (after === undefined ? 0 : 1)),
    );
    const ours = page.objects.filter(
      ({ name }) => (after === undefined || name > after) && isListed(prefix, name),
    );
    found.push(...ours.slice(0, limit - found.length));
    if (page.next === undefined || found.length >= limit) return found;
    if (page.next === next) break;
    next = page.next;
    if (ours.length > 0) empty = -1;
  }
  throw unavailable(new Error("The store's list of names has no end."));
}

/** What others put below an organization, as a folder's marker, is none of its objects: nothing reads, counts or deletes it. */
export function isListed(prefix: string, name: string): boolean {
  return prefix === "" || isStoredName(name);
}
