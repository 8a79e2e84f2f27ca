/** Lists a store's objects over pages that may have fewer names than asked, and ones not Holdfast's. */
import { type ListedObject, type ListOptions, isStoredName, unavailable } from "../object-store.ts";

interface Page {
  readonly objects: readonly ListedObject[];
  /** The store's token for the next page; undefined after the last one. */
  readonly next: string | undefined;
}

/** Asks for a page of at most `size` names, 1 to 1,000. */
type AskPage = (next: string | undefined, size: number) => Promise<Page>;

/** Names of a page that any store gives at most. */
const LARGEST_PAGE = 1_000;
/** After so many pages in a row without a name of Holdfast, the store repeats itself or is another's. */
const MOST_EMPTY_PAGES = 1_000;

/**
 * As {@link ObjectStore.list}, for a store that answers in pages. With an empty prefix every name is listed,
 * since that is asked to find out whether the store answers.
 *
 * @throws DomainError `storage_unavailable` if the pages have no end.
 * @example `test/storage/stores/list-pages.test.ts`
 */
export async function listByPages(
  prefix: string,
  { after, limit }: ListOptions,
  ask: AskPage,
): Promise<ListedObject[]> {
  const found: ListedObject[] = [];
  let next: string | undefined;
  let emptyPages = 0;
  while (emptyPages < MOST_EMPTY_PAGES) {
    // One more than is missing, since some stores begin the list with `after` itself.
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
    emptyPages = ours.length > 0 ? 0 : emptyPages + 1;
  }
  throw unavailable(new Error("The store's list of names has no end."));
}

/** Leaves out what others put below an organization, such as folder markers: nothing here uses them. */
export function isListed(prefix: string, name: string): boolean {
  return prefix === "" || isStoredName(name);
}
