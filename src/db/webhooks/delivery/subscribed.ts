/** Which types of events an endpoint asked for. */

/**
 * A condition over `events event`. Who names no types is not told of progress, which is as much as all other
 * events of a document together.
 * @param types an SQL expression of the endpoint's types, a `text[]`.
 */
export const subscribedTo = (types: string): string =>
  `((${types} = '{}' and event.type <> 'document.progressed') or event.type = any(${types}))`;
