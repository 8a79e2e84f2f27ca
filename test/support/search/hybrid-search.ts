/** Search in one space, as tests and benches need it. */
import type { OrganizationRef } from "../../../src/db/pool.ts";
import type { SpaceRef } from "../../../src/db/search/scope.ts";
import { type SearchDeps, searchSpaces } from "../../../src/search/hybrid.ts";
import type { SearchAnswer, SearchRequest } from "../../../src/search/request.ts";

/** As `searchSpaces`, in one space. */
export function hybridSearch(
  deps: SearchDeps,
  { organization, space }: { readonly organization: OrganizationRef; readonly space: SpaceRef },
  request: SearchRequest,
  signal?: AbortSignal,
): Promise<SearchAnswer> {
  return searchSpaces(deps, { organization, spaces: [space] }, request, signal);
}
